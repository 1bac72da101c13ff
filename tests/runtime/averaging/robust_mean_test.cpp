#include "runtime/averaging/robust_mean.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "runtime/averaging/chunk_average.hpp"

using namespace potluck;

namespace {

using vectors = std::vector<std::vector<float>>;

constexpr aggregator robust_ones[]
    = {aggregator::centered_clip, aggregator::trimmed_mean, aggregator::median};

std::vector<const float*> pointers(const vectors& xs) {
  std::vector<const float*> result;
  for (auto& x : xs)
    result.push_back(x.data());
  return result;
}

std::vector<float> aggregate(aggregator how, const vectors& xs) {
  averaging_rule rule;
  rule.how = how;
  return robust_mean(rule, pointers(xs), xs.front().size());
}

vectors around(float center, std::size_t members, std::size_t length,
               std::mt19937_64& random) {
  std::normal_distribution<float> noise{center, 1.0f};
  vectors result(members, std::vector<float>(length));
  for (auto& x : result)
    for (auto& v : x)
      v = noise(random);
  return result;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(sum);
}

} // namespace

TEST_CASE("names of aggregators are read, and no others") {
  CHECK(aggregator_from("mean") == aggregator::mean);
  CHECK(aggregator_from("centered-clip") == aggregator::centered_clip);
  CHECK(aggregator_from("trimmed-mean") == aggregator::trimmed_mean);
  CHECK(aggregator_from("median") == aggregator::median);
  CHECK_FALSE(aggregator_from("Mean"));
  CHECK_FALSE(aggregator_from(""));
}

TEST_CASE("the median is the middle one, or the mean of the two middle ones") {
  CHECK(aggregate(aggregator::median, {{1, 9}, {5, -1}, {3, 2}})
        == std::vector<float>{3, 2});
  CHECK(aggregate(aggregator::median, {{1}, {8}, {3}, {100}})
        == std::vector<float>{5.5f});
  auto huge = 3e38f; // Their sum would be infinite.
  CHECK(aggregate(aggregator::median, {{huge}, {huge}})
        == std::vector<float>{huge});
}

TEST_CASE("a trimmed mean leaves as many away at either end") {
  vectors xs{{0}, {1}, {2}, {3}, {100}};
  CHECK(trimmed_mean(pointers(xs), 1, 0) == std::vector<float>{21.2f});
  CHECK(trimmed_mean(pointers(xs), 1, 0.2) == std::vector<float>{2});
  CHECK(trimmed_mean(pointers(xs), 1, 0.4999) == std::vector<float>{2});
  xs.resize(2);
  CHECK(trimmed_mean(pointers(xs), 1, 0.4999) == std::vector<float>{0.5f});
}

TEST_CASE("centered clipping goes no further than its radius") {
  vectors xs{{0}, {0}, {0}, {1000}};
  auto y = centered_clip(pointers(xs), 1, 1.0);
  CHECK(y[0] > 0);
  CHECK(y[0] <= clip_iterations * 0.25f);
  // Within the radius it converges to the mean.
  xs = {{1}, {2}, {6}};
  CHECK(centered_clip(pointers(xs), 1, 100.0)[0] == doctest::Approx(3));
}

TEST_CASE("members that agree get what they agree on, bit for bit") {
  for (auto how : robust_ones)
    for (std::size_t n = 1; n <= 16; ++n)
      CHECK(aggregate(how, vectors(n, {0.1f, -7.25f, 0.0f}))
            == std::vector<float>{0.1f, -7.25f, 0.0f});
}

TEST_CASE("7 hostile members of 16 move no robust mean beyond the spread") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    auto xs = around(5, 9, 64, random);
    auto honest = aggregate(aggregator::median, xs);
    std::uniform_real_distribution<float> size{-1e30f, 1e30f};
    std::vector<float> lie(64);
    for (auto& v : lie)
      v = size(random);
    for (int i = 0; i < 7; ++i) // Together, each alone, or near the others.
      xs.push_back(seed % 3 == 0   ? lie
                   : seed % 3 == 1 ? around(-5, 1, 64, random)[0]
                                   : std::vector<float>(64, size(random)));
    std::shuffle(xs.begin(), xs.end(), random);
    // An honest member is about 8 = sqrt(64) away from the center.
    for (auto how : robust_ones)
      CHECK(distance(aggregate(how, xs), honest) < 2.5 * 8);
    std::vector<float> mean(64, 0.0f);
    for (auto& x : xs)
      for (std::size_t i = 0; i < 64; ++i)
        mean[i] += x[i] / 16;
    CHECK(distance(mean, honest) > 2.5 * 8);
  }
}

TEST_CASE("a robust mean has the same bits whatever the order of arrival") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    auto n = 1 + random() % 16;
    auto xs = around(0, n, 33, random);
    std::vector<std::uint64_t> samples;
    for (std::size_t i = 0; i < n; ++i)
      samples.push_back(1 + random() % 50);
    averaging_rule rule;
    rule.how = robust_ones[seed % 3];
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < n; ++i)
      order.push_back(i);
    std::vector<float> first;
    for (int turn = 0; turn < 3; ++turn) {
      std::shuffle(order.begin(), order.end(), random);
      chunk_average average{33, samples, rule};
      for (auto i : order)
        average.offer(i, samples[i], xs[i].data(), 33);
      REQUIRE(average.complete());
      if (turn == 0)
        first = average.mean();
      else
        CHECK(average.mean() == first);
    }
  }
}

TEST_CASE("claimed samples do not weigh under a robust rule") {
  averaging_rule rule;
  for (auto how : robust_ones) {
    rule.how = how;
    chunk_average average{1, {1, 1, 1000000}, rule};
    float one = 1;
    float two = 2;
    float liar = 5e9f; // A mean of 5000.
    average.offer(0, 1, &one, 1);
    average.offer(1, 1, &two, 1);
    average.offer(2, 1000000, &liar, 1);
    CHECK(average.mean()[0] <= 10);
  }
}

TEST_CASE("a part beyond the bound is refused, whatever the aggregator") {
  averaging_rule rule;
  rule.part_norm = 5;
  float fits[] = {6, 8}; // Of two samples: a mean of norm 5.
  float beyond[] = {6, 8.01f};
  for (auto how : {aggregator::mean, aggregator::median}) {
    rule.how = how;
    chunk_average average{2, {2, 2}, rule};
    CHECK(average.offer(0, 2, beyond, 2) == chunk_average::verdict::too_large);
    CHECK(average.offer(0, 2, fits, 2) == chunk_average::verdict::accepted);
    CHECK(average.missing() == std::vector<std::size_t>{1});
  }
}

TEST_CASE("a part far longer than the others is left out of a robust mean") {
  averaging_rule rule;
  rule.how = aggregator::median;
  float one = 1;
  float huge = 1e30f;
  chunk_average average{1, {3, 1, 1, 1}, rule};
  average.offer(0, 3, &one, 1);
  average.offer(1, 1, &one, 1);
  average.offer(2, 1, &huge, 1);
  CHECK(average.drop_outliers(1e6).empty()); // One is missing yet.
  average.offer(3, 1, &one, 1);
  CHECK(average.drop_outliers(1e6) == std::vector<std::size_t>{2});
  CHECK(average.left_out() == std::vector<std::uint8_t>{2});
  CHECK(average.samples_counted() == 5);
  CHECK(average.drop_outliers(1e6).empty());
  CHECK(norm_outliers({1, 1e9}, 1e6).empty()); // Who of two is wrong?
  CHECK(norm_outliers({0, 0, 1}, 1e6).empty());
}

TEST_CASE("a robust mean of nobody is a broken invariant") {
  CHECK_THROWS_AS(coordinate_median({}, 1), std::logic_error);
  float one = 1;
  CHECK_THROWS_AS(robust_mean({}, {&one}, 1), std::logic_error);
}
