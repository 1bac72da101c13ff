#include "runtime/membership/restart_budget.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

TEST_CASE("restarts are allowed up to the budget, and again when it recovers") {
  restart_budget budget{3, 10s};
  time_point start{};
  CHECK(budget.allow(start));
  CHECK(budget.allow(start + 1s));
  CHECK(budget.allow(start + 2s));
  CHECK_FALSE(budget.allow(start + 3s));
  CHECK_FALSE(budget.allow(start + 10s - 1ns));
  CHECK(budget.allow(start + 10s));
  CHECK_FALSE(budget.allow(start + 10s));
  CHECK(budget.allow(start + 11s));
}

TEST_CASE("a budget of none allows none") {
  restart_budget budget{0, 10s};
  CHECK_FALSE(budget.allow(time_point{}));
  CHECK_FALSE(budget.allow(time_point{1h}));
}

TEST_CASE("no window ever holds more restarts than the budget") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    const std::size_t most = 1 + random.below(5);
    restart_budget budget{most, 1s};
    std::vector<time_point> allowed;
    time_point now{};
    for (int i = 0; i < 500; ++i) {
      now += std::chrono::milliseconds(random.below(300));
      std::size_t recent = 0;
      for (auto& x : allowed)
        recent += now - x < 1s;
      bool yes = budget.allow(now);
      CHECK(yes == (recent < most));
      if (yes)
        allowed.push_back(now);
    }
  }
}
