/// What one hostile member of 16 can do to a step, by rule: the figures of
/// runtime/averaging/README.md.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "runtime/averaging/chunk_average.hpp"
#include "runtime/progress/past_steps.hpp"
#include "runtime/progress/speed_book.hpp"

using namespace potluck;

namespace {

constexpr std::size_t values = 4000;
constexpr std::size_t peers = 16;
constexpr std::uint64_t batch = 64;

/// Of the first member, which lies: the others' gradients are 1 in every value,
/// and noise that is as large.
struct lie {
  std::uint64_t samples = batch;
  float value = 0; ///< Of its mean.
};

std::vector<float> averaged(aggregator how, const lie& x) {
  averaging_rule rule;
  rule.how = how;
  std::vector<std::uint64_t> samples(peers, batch);
  samples[0] = x.samples;
  chunk_average average{values, samples, rule};
  std::mt19937_64 random{5};
  std::normal_distribution<float> noise{1, 1};
  for (std::size_t i = 0; i < peers; ++i) {
    std::vector<float> part(values);
    for (auto& v : part)
      v = (i == 0 ? x.value : noise(random)) * static_cast<float>(samples[i]);
    average.offer(i, samples[i], part.data(), values);
  }
  return average.mean();
}

double mean_of(const std::vector<float>& xs) {
  double sum = 0;
  for (auto x : xs)
    sum += static_cast<double>(x);
  return sum / static_cast<double>(xs.size());
}

/// How far the lie moves a value, in units of what 15 honest members' noise
/// does: the root mean square.
double moved(aggregator how, float by) {
  const auto honest = averaged(how, {batch, 1});
  const auto spoilt = averaged(how, {batch, by});
  double sum = 0;
  for (std::size_t i = 0; i < values; ++i)
    sum += std::pow(
        static_cast<double>(spoilt[i]) - static_cast<double>(honest[i]), 2);
  return std::sqrt(sum / values) * std::sqrt(peers - 1.0);
}

} // namespace

TEST_CASE("by the mean, claimed samples take the others' weight, but for what "
          "they are bounded to") {
  auto left = [](std::uint64_t samples) {
    return mean_of(averaged(aggregator::mean, {samples, 0}));
  };
  constexpr auto claim = std::uint64_t{1} << 40;
  CHECK(left(claim) < 1e-6);
  group_contract others;
  for (std::size_t i = 1; i < peers; ++i) {
    group_member m;
    m.who.id.bytes[0] = static_cast<std::uint8_t>(i);
    m.samples = batch;
    others.members.push_back(m);
  }
  past_steps seen;
  for (auto weight : {3.0, 9.0, 27.0}) {
    seen.made(others, {});
    others.members.resize(peers - 1);
    others.members.push_back({});
    others.members.back().samples = claim;
    const auto counts = seen.among(others, {}).of({});
    others.members.back().samples = counts;
    CHECK(left(counts) == doctest::Approx(15 / (15 + weight)).epsilon(0.02));
  }
  const auto most = static_cast<std::uint64_t>(2 * most_times_median) * batch;
  CHECK(left(most) == doctest::Approx(15.0 / 527).epsilon(0.02));
  CHECK(left(batch) == doctest::Approx(15.0 / 16).epsilon(0.02));
}

TEST_CASE(
    "by a robust rule nobody weighs more than once, whatever is claimed") {
  for (auto how : {aggregator::centered_clip, aggregator::trimmed_mean,
                   aggregator::median})
    CHECK(averaged(how, {std::uint64_t{1} << 40, 0})
          == averaged(how, {batch, 0}));
}

TEST_CASE("one member of 16 moves the mean anywhere, and robust rules by less "
          "than the others' noise") {
  constexpr float anything = 1e6f;
  CHECK(moved(aggregator::mean, anything) > 1e5);
  CHECK(moved(aggregator::centered_clip, anything) < 0.35);
  CHECK(moved(aggregator::trimmed_mean, anything) < 0.55);
  CHECK(moved(aggregator::median, anything) < 0.55);
}
