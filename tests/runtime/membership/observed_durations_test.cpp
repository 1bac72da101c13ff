#include "runtime/membership/observed_durations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

TEST_CASE("without enough observations a deadline is the cap") {
  observed_durations seen;
  CHECK(seen.median() == 0s);
  CHECK(seen.spread() == 0s);
  for (std::size_t i = 0; i < observed_durations::enough; ++i) {
    CHECK(seen.deadline(1s, 9s) == 9s);
    seen.add(2s);
  }
  CHECK(seen.deadline(1s, 9s) == 2s);
}

TEST_CASE("a deadline stays between floor and cap") {
  observed_durations seen;
  for (int i = 0; i < 8; ++i)
    seen.add(5s);
  CHECK(seen.deadline(6s, 9s) == 6s);
  CHECK(seen.deadline(1s, 4s) == 4s);
  CHECK(seen.deadline(1s, 9s) == 5s);
}

TEST_CASE("a deadline allows six deviations beyond the median") {
  observed_durations seen;
  for (auto x : {900ms, 1000ms, 1100ms, 1000ms, 900ms, 1100ms, 1000ms, 1100ms})
    seen.add(x);
  CHECK(seen.median() == 1000ms);
  CHECK(seen.spread() == 100ms);
  CHECK(seen.deadline(0s, 1min) == 1000ms + 6 * 148260us);
}

TEST_CASE("one outlier hardly moves a deadline") {
  observed_durations seen;
  for (int i = 0; i < 31; ++i)
    seen.add(1000ms + std::chrono::milliseconds(i));
  auto before = seen.deadline(0s, 1h);
  seen.add(10min);
  CHECK(seen.deadline(0s, 1h) - before < 20ms);
}

TEST_CASE("impossible observations are clamped") {
  observed_durations seen;
  for (int i = 0; i < 2; ++i) {
    seen.add(-5s);
    seen.add(duration::max());
  }
  CHECK(seen.median() == 30min);
  CHECK(seen.spread() == 30min);
  CHECK(seen.deadline(0s, 24h) > 3h);
}

TEST_CASE("median and spread are those of the last 64 observations") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    observed_durations seen;
    std::deque<duration> last;
    for (int i = 0; i < 200; ++i) {
      const duration x{std::chrono::microseconds{random.below(1000000)}};
      seen.add(x);
      last.push_back(x);
      if (last.size() > observed_durations::window)
        last.pop_front();
      REQUIRE(seen.count() == last.size());
      auto middle = [](std::vector<duration> items) {
        std::sort(items.begin(), items.end());
        auto n = items.size();
        return n % 2 == 1 ? items[n / 2]
                          : (items[n / 2 - 1] + items[n / 2]) / 2;
      };
      std::vector<duration> items(last.begin(), last.end());
      auto median = middle(items);
      CHECK(seen.median() == median);
      for (auto& y : items)
        y = y > median ? y - median : median - y;
      CHECK(seen.spread() == middle(items));
    }
  }
}
