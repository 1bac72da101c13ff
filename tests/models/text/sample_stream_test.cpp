#include "models/text/sample_stream.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

#include "models/text/tokenizer.hpp"

using namespace potluck;

namespace {

/// 5, 6, 7, ...: every token tells its place.
std::vector<std::int32_t> counting(std::int32_t count) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), special_token::count);
  return result;
}

std::vector<std::int32_t> unmasked(const masked_sample& x) {
  auto tokens = x.tokens;
  for (std::size_t i = 0; i < x.positions.size(); ++i)
    tokens[x.positions[i]] = x.labels[i];
  return tokens;
}

} // namespace

TEST_CASE("seed and number fix a sample, in whatever order one asks") {
  const sample_stream one(counting(1000), 12, 1005, 0.15);
  const sample_stream two(counting(1000), 12, 1005, 0.15);
  std::vector<masked_sample> forth;
  for (std::uint64_t k = 0; k < 250; ++k)
    forth.push_back(one.sample(7, k));
  for (std::uint64_t k = 250; k-- > 0;) {
    const auto again = two.sample(7, k);
    CHECK(again.tokens == forth[k].tokens);
    CHECK(again.positions == forth[k].positions);
    CHECK(again.labels == forth[k].labels);
  }
  CHECK(unmasked(one.sample(8, 0)) != unmasked(forth[0]));
}

TEST_CASE("a sample is a window of the text between [CLS] and [SEP]") {
  const sample_stream stream(counting(100), 12, 105, 0.15);
  for (std::uint64_t k = 0; k < 40; ++k) {
    const auto tokens = unmasked(stream.sample(1, k));
    REQUIRE(tokens.size() == 12);
    CHECK(tokens.front() == special_token::begin);
    CHECK(tokens.back() == special_token::separator);
    for (std::size_t i = 2; i < 11; ++i)
      CHECK((tokens[i] - 5) % 100 == (tokens[i - 1] - 5 + 1) % 100);
  }
}

TEST_CASE("an epoch meets every token at most once, and all but a remainder") {
  const sample_stream stream(counting(107), 12, 112, 0.15);
  std::set<std::int32_t> starts;
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
    std::set<std::int32_t> met;
    for (std::uint64_t k = 0; k < 10; ++k) {
      const auto tokens = unmasked(stream.sample(3, epoch * 10 + k));
      met.insert(tokens.begin() + 1, tokens.end() - 1);
      starts.insert((tokens[1] - 5) % 10);
    }
    CHECK(met.size() == 100);
  }
  CHECK(starts.size() > 1); // Epochs cut the text at different places.
}

TEST_CASE("masks have BERT's shares") {
  const std::uint32_t vocabulary = 1005;
  const sample_stream stream(counting(1000), 102, vocabulary, 0.15);
  std::size_t masked = 0, kept = 0, other = 0;
  std::vector<int> chosen_at(102);
  const std::uint64_t samples = 2000;
  for (std::uint64_t k = 0; k < samples; ++k) {
    const auto x = stream.sample(5, k);
    REQUIRE(x.positions.size() == 15);
    REQUIRE(x.labels.size() == 15);
    CHECK(std::is_sorted(x.positions.begin(), x.positions.end()));
    CHECK(std::adjacent_find(x.positions.begin(), x.positions.end())
          == x.positions.end());
    for (std::size_t i = 0; i < x.positions.size(); ++i) {
      ++chosen_at[x.positions[i]];
      const auto token = x.tokens[x.positions[i]];
      CHECK(x.labels[i] >= special_token::count);
      if (token == special_token::mask)
        ++masked;
      else if (token == x.labels[i])
        ++kept;
      else
        ++other;
      CHECK(token >= special_token::mask);
      CHECK(token < static_cast<std::int32_t>(vocabulary));
    }
  }
  // Five standard deviations of 30000 draws: about 0.012 and 0.009.
  const double all = 15.0 * static_cast<double>(samples);
  CHECK(std::abs(static_cast<double>(masked) / all - 0.8) < 0.012);
  CHECK(std::abs(static_cast<double>(kept) / all - 0.1) < 0.009);
  CHECK(std::abs(static_cast<double>(other) / all - 0.1) < 0.009);
  CHECK(chosen_at.front() == 0);
  CHECK(chosen_at.back() == 0);
  for (std::size_t i = 1; i < 101; ++i) // Expected 300, deviation 16.
    CHECK(std::abs(chosen_at[i] - 300) < 80);
}

TEST_CASE("at least one token is chosen, and at most all") {
  const sample_stream few(counting(50), 4, 55, 0.01);
  CHECK(few.sample(1, 0).positions.size() == 1);
  const sample_stream all(counting(50), 4, 55, 1.0);
  CHECK(all.sample(1, 0).positions == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("a text shorter than a window is repeated inside it") {
  const sample_stream stream(counting(3), 12, 10, 0.15);
  const auto tokens = unmasked(stream.sample(1, 0));
  for (std::size_t i = 4; i < 11; ++i)
    CHECK(tokens[i] == tokens[i - 3]);
}

TEST_CASE("a stream refuses what it cannot sample from") {
  CHECK_THROWS_AS(sample_stream({}, 12, 10, 0.1), std::invalid_argument);
  CHECK_THROWS_AS(sample_stream({5}, 2, 10, 0.1), std::invalid_argument);
  CHECK_THROWS_AS(sample_stream({5}, 12, 5, 0.1), std::invalid_argument);
  CHECK_THROWS_AS(sample_stream({5}, 12, 10, 0), std::invalid_argument);
  CHECK_THROWS_AS(sample_stream({10}, 12, 10, 0.1), std::invalid_argument);
}
