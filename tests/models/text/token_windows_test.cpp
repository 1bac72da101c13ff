#include "models/text/token_windows.hpp"

#include <doctest/doctest.h>

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

std::vector<std::int32_t> window(const token_windows& of, std::uint64_t seed,
                                 std::uint64_t number) {
  std::vector<std::int32_t> result;
  of.append(seed, number, result);
  return result;
}

} // namespace

TEST_CASE("an epoch's windows are stretches of the text that do not overlap") {
  const token_windows windows(counting(107), 10, 112);
  REQUIRE(windows.count() == 10);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<std::int32_t> seen;
    for (std::uint64_t k = 0; k < 10; ++k) {
      const auto x = window(windows, 7, epoch * 10 + k);
      REQUIRE(x.size() == 10);
      for (std::size_t i = 1; i < x.size(); ++i)
        CHECK((x[i] - x[i - 1] + 107) % 107 == 1); // The text is a circle.
      seen.insert(x.begin(), x.end());
    }
    CHECK(seen.size() == 100);
  }
}

TEST_CASE("a text shorter than a window is repeated in it") {
  const token_windows windows(counting(3), 8, 10);
  const auto x = window(windows, 1, 0);
  REQUIRE(x.size() == 8);
  for (std::size_t i = 3; i < x.size(); ++i)
    CHECK(x[i] == x[i - 3]);
}

TEST_CASE("another seed is another order") {
  const token_windows windows(counting(1000), 10, 1005);
  bool same = true;
  for (std::uint64_t k = 0; k < 20; ++k)
    same = same && window(windows, 1, k) == window(windows, 2, k);
  CHECK_FALSE(same);
}

TEST_CASE("windows of nothing, and tokens that are none, are refused") {
  CHECK_THROWS_AS(token_windows({}, 4, 10), std::invalid_argument);
  CHECK_THROWS_AS(token_windows({5}, 0, 10), std::invalid_argument);
  CHECK_THROWS_AS(token_windows({5}, 4, 5), std::invalid_argument);
  CHECK_THROWS_AS(token_windows({10}, 4, 10), std::invalid_argument);
  CHECK_THROWS_AS(token_windows({-1}, 4, 10), std::invalid_argument);
}
