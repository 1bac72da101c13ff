#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "runtime/averaging/chunk_average.hpp"
#include "runtime/averaging/sum_check.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

constexpr packing all_packings[]
    = {packing::float32, packing::float16, packing::bfloat16, packing::int8};

std::vector<float> unpacked(packing how, const std::vector<float>& values) {
  std::vector<float> result(values.size());
  pack_and_round(how, values.data(), values.size(), result.data());
  return result;
}

/// A chunk of some members: their parts as they were sent, packed or not, and
/// the mean as all got it.
struct one_chunk {
  one_chunk(random_stream& chance, packing how, std::size_t most_values)
      : seed{chance.next()}, how{how} {
    const auto members = 2 + chance.below(7);
    const auto length = 1 + chance.below(most_values);
    for (std::size_t i = 0; i < members; ++i)
      samples.push_back(i == 0 ? 1 : chance.below(100)); // Some have none.
    chunk_average sum{length, samples};
    for (std::size_t i = 0; i < members; ++i) {
      if (samples[i] == 0) {
        parts.emplace_back();
        continue;
      }
      // Of very different sizes, with far values and zeros among them.
      const auto size = std::exp(20 * chance.uniform01() - 15);
      std::vector<float> values(length);
      for (auto& x : values)
        if (auto kind = chance.below(50); kind != 0)
          x = static_cast<float>(size * (chance.uniform01() - 0.5)
                                 * (kind == 1 ? 1000 : 1));
      values = unpacked(how, values);
      parts.push_back(project(seed, 3, values.data(), length));
      sum.offer(i, samples[i], values.data(), length);
    }
    mean = unpacked(how, sum.mean());
  }

  sum_check check(double part_norm = 0) const {
    return {seed, 3, samples, part_norm, mean.data(), mean.size(), how};
  }
  bool fits() const {
    return check().fits(parts);
  }
  double total() const {
    double result = 0;
    for (auto x : samples)
      result += static_cast<double>(x);
    return result;
  }

  std::uint64_t seed;
  packing how;
  std::vector<std::uint64_t> samples;
  std::vector<projection> parts;
  std::vector<float> mean;
};

} // namespace

TEST_CASE("rounding never makes an honest mean look wrong") {
  random_stream chance{1};
  for (auto how : all_packings) {
    CAPTURE(to_string(how));
    int accused = 0;
    for (int i = 0; i < 10000; ++i)
      accused += !one_chunk{chance, how, 300}.fits();
    CHECK(accused == 0);
    accused = 0;
    for (int i = 0; i < 20; ++i)
      accused += !one_chunk{chance, how, 20000}.fits();
    CHECK(accused == 0);
  }
}

TEST_CASE("a shift is missed as rarely as is said, wherever it is") {
  // In all values, in one, and in two alike, which random signs would miss
  // half of the time.
  random_stream chance{2};
  constexpr int tries = 2000;
  constexpr double factor = 17;
  for (auto how : all_packings)
    for (std::size_t values : {0, 1, 2}) {
      CAPTURE(to_string(how));
      CAPTURE(values);
      int missed = 0;
      for (int i = 0; i < tries; ++i) {
        one_chunk x{chance, how, 300};
        const auto all = x.mean.size();
        const auto bent = values == 0 ? all : std::min(values, all);
        const auto shift = factor * x.check().tolerance(x.parts) / x.total()
                           / std::sqrt(static_cast<double>(bent));
        // The packing's own error is that of the honest mean.
        const auto honest = x.check();
        auto moved = x.parts;
        std::vector<float> push(all);
        for (std::size_t k = 0; k < bent; ++k)
          push[k] += static_cast<float>(shift * x.total());
        moved[0].value += project(x.seed, 3, push.data(), all).value;
        missed += honest.fits(moved);
      }
      CHECK(missed <= tries / 10 + 40);
    }
}

TEST_CASE("a mean that lacks a part, or has one twice, does not fit") {
  random_stream chance{3};
  for (auto how : all_packings) {
    int missed = 0;
    for (int i = 0; i < 200; ++i) {
      one_chunk x{chance, how, 2000};
      auto k = chance.below(x.samples.size());
      while (x.samples[k] == 0)
        k = chance.below(x.samples.size());
      // Beside parts a thousand times as long it is as small as their rounding.
      if (x.parts[k].norm < 40 * x.check().tolerance(x.parts))
        continue;
      x.parts[k].value *= chance.below(2) == 0 ? 0 : 2;
      missed += x.fits();
    }
    CHECK(missed <= 20);
  }
}

TEST_CASE("a long norm excuses nothing, and a short one is seen") {
  // Three parts of ones, and a mean of twos.
  const std::vector<float> ones(1000, 1);
  const std::vector<float> twos(1000, 2);
  auto part = project(5, 3, ones.data(), ones.size());
  std::vector<projection> parts(3, part);
  auto check = [&](const std::vector<float>& mean, double part_norm = 0) {
    return sum_check{5,           3,           {1, 1, 1},       part_norm,
                     mean.data(), mean.size(), packing::float32};
  };
  CHECK(check(ones).fits(parts));
  CHECK_FALSE(check(twos).fits(parts));
  parts[1].norm = 1e12f;
  CHECK_FALSE(check(twos).fits(parts));
  CHECK_FALSE(check(ones).fits(parts));
  parts[1] = {100 * part.norm, part.norm}; // No part of this norm is so long.
  CHECK_FALSE(check(ones).fits(parts));
  // The rule's longest part; each is 31.6 long.
  parts[1] = part;
  CHECK(check(ones, 32).fits(parts));
  CHECK_FALSE(check(ones, 31).fits(parts));
}

TEST_CASE("who is not in the mean does not count") {
  const std::vector<float> ones(10, 1);
  auto part = project(5, 3, ones.data(), ones.size());
  sum_check check{5, 3, {1, 0, 1}, 0, ones.data(), 10, packing::float32};
  CHECK_FALSE(check.has(1));
  CHECK(check.fits({part, {1e9, 1e9f}, part}));
}

TEST_CASE("a seed draws a few chunks, each once, and other seeds others") {
  const chunk_map many{100000, 100, {0, 0, 1000}};
  const auto drawn = chunks_drawn(9, many);
  CHECK(drawn.size() == max_projections);
  CHECK(std::set<std::uint32_t>(drawn.begin(), drawn.end()).size()
        == drawn.size());
  CHECK(drawn == chunks_drawn(9, many));
  CHECK(drawn != chunks_drawn(10, many));
  CHECK(chunks_drawn(9, chunk_map{300, 100, {3}})
        == std::vector<std::uint32_t>{0, 1, 2});
  // Large ones are few.
  CHECK(chunks_drawn(9, chunk_map{1u << 24, 1u << 18, {64}}).size() == 2);
  CHECK(chunks_drawn(9, chunk_map{1u << 24, 1u << 22, {4}}).size() == 1);
}

TEST_CASE("a direction is the same everywhere, with components of variance 1") {
  std::vector<float> one(1001, 0);
  double squares = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    one[i] = 1;
    const auto x = project(7, 2, one.data(), one.size());
    CHECK(std::abs(x.value) < 1.7321);
    CHECK(x.norm == 1);
    squares += x.value * x.value;
    one[i] = 0;
  }
  CHECK(squares / one.size() == doctest::Approx(1).epsilon(0.1));
  std::vector<float> steps(5);
  for (std::size_t i = 0; i < steps.size(); ++i)
    steps[i] = static_cast<float>(i + 1);
  CHECK(project(7, 2, steps.data(), steps.size()).value == -4.4424238310767361);
}
