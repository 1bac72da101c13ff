#include "runtime/membership/deadline_estimator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id number(std::uint32_t x) {
  peer_id id;
  id.bytes[0] = static_cast<std::uint8_t>(x);
  id.bytes[1] = static_cast<std::uint8_t>(x >> 8);
  id.bytes[31] = 1;
  return id;
}

duration some_time(random_stream& chance, duration longest) {
  return duration{static_cast<duration::rep>(
      chance.below(static_cast<std::uint64_t>(longest.count()) + 1))};
}

constexpr deadline_estimator::settings usual{1s, 30s, 5s};

} // namespace

TEST_CASE("settings that contradict each other are refused") {
  CHECK_THROWS_AS(deadline_estimator({0s, 3s, 1s}), std::invalid_argument);
  CHECK_THROWS_AS(deadline_estimator({2s, 3s, 1s}), std::invalid_argument);
  CHECK_THROWS_AS(deadline_estimator({1s, 3s, 4s}), std::invalid_argument);
}

TEST_CASE("before anybody was observed the start is waited") {
  deadline_estimator x{usual};
  CHECK(x.patience(number(1)) == 5s);
  CHECK(x.patience(number(1), 9s) == 9s);
  CHECK(x.patience(number(1), 1ms) == 1s);
  CHECK(x.patience(number(1), 1h) == 30s);
  CHECK(x.patience_for_a_stranger() == 5s);
}

TEST_CASE("every peer has its own deadline") {
  deadline_estimator x{usual};
  for (int i = 0; i < 8; ++i) {
    x.observed(number(1), 20ms);
    x.observed(number(2), 4s);
  }
  CHECK(x.patience(number(1)) == 1s);
  CHECK(x.patience(number(2)) == 4s);
}

TEST_CASE("a new peer gets what the others took") {
  deadline_estimator x{usual};
  for (std::uint32_t i = 1; i <= 4; ++i)
    x.observed(number(i), 8s);
  CHECK(x.patience(number(9)) == 8s);
  CHECK(x.patience_for_a_stranger() == 8s);
}

TEST_CASE("a peer with one slow observation gets three times that") {
  deadline_estimator x{usual};
  for (std::uint32_t i = 1; i <= 8; ++i)
    x.observed(number(i), 20ms);
  x.observed(number(9), 4s);
  CHECK(x.patience(number(9)) == 12s);
  CHECK(x.patience(number(10)) == 1s);
}

TEST_CASE("an expiry doubles up to the cap until the next observation") {
  deadline_estimator x{usual};
  for (int i = 0; i < 4; ++i)
    x.observed(number(1), 2s);
  CHECK(x.patience(number(1)) == 2s);
  for (auto expected : {4s, 8s, 16s, 30s, 30s}) {
    x.expired(number(1));
    CHECK(x.patience(number(1)) == expected);
  }
  CHECK(x.patience(number(2)) == 2s);
  x.observed(number(1), 2s);
  CHECK(x.patience(number(1)) == 2s);
  for (int i = 0; i < 1000; ++i)
    x.expired(number(3));
  CHECK(x.patience(number(3)) == 30s);
}

TEST_CASE("a forgotten peer is new again") {
  deadline_estimator x{usual};
  for (int i = 0; i < 4; ++i)
    x.observed(number(1), 10s);
  for (int i = 0; i < 60; ++i)
    x.observed(number(2), 20ms);
  CHECK(x.patience(number(1)) == 10s);
  x.forget(number(1));
  CHECK(x.count(number(1)) == 0);
  CHECK(x.patience(number(1)) < 10s);
}

TEST_CASE("memory is bounded, and who is in use is kept") {
  deadline_estimator x{usual};
  for (std::uint32_t i = 1; i <= 3 * deadline_estimator::max_peers; ++i) {
    x.observed(number(7), 3s);
    x.expired(number(1000 + i));
  }
  CHECK(x.size() == deadline_estimator::max_peers);
  CHECK(x.count(number(7)) == observed_durations::window);
}

TEST_CASE("for any history a deadline keeps its promises") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed); // Replays the failure.
    random_stream chance{seed};
    const duration floor = 1ms + some_time(chance, 3s);
    const duration cap = floor + some_time(chance, 60s);
    const duration start = floor + some_time(chance, cap - floor);
    deadline_estimator x{{floor, cap, start}};
    for (int i = 0; i < 200; ++i) {
      const auto who = number(1 + static_cast<std::uint32_t>(chance.below(5)));
      const auto before = x.patience(who);
      if (chance.below(4) == 0) {
        x.expired(who);
        // Never shorter, exactly doubled, unless the cap is in the way.
        CHECK(x.patience(who) == std::min(2 * before, cap));
      } else {
        x.observed(who, some_time(chance, 20s));
      }
      CHECK(x.patience(who) >= floor);
      CHECK(x.patience(who) <= cap);
      CHECK(x.patience_for_a_stranger() >= floor);
      CHECK(x.patience_for_a_stranger() <= cap);
    }
  }
}

TEST_CASE("whoever is as fast as always is hardly ever late") {
  // Any base, up to a tenth of jitter: from the fifth answer on each comes
  // within the deadline that the earlier ones gave.
  std::size_t late = 0;
  std::size_t all = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    random_stream chance{seed};
    deadline_estimator x{{500ms, 60s, 5s}};
    const duration base = 1ms + some_time(chance, 10s);
    for (int i = 0; i < 64; ++i) {
      const auto taken = base + some_time(chance, base / 10);
      if (i >= 8) {
        ++all;
        late += taken > x.patience(number(1));
      }
      x.observed(number(1), taken);
    }
  }
  CAPTURE(all);
  CHECK(late * 500 < all);
}

TEST_CASE(
    "observations of the others do not move an observed peer's deadline") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed); // Replays the failure.
    random_stream chance{seed};
    deadline_estimator x{usual};
    for (int i = 0; i < 4; ++i)
      x.observed(number(1), some_time(chance, 10s));
    const auto before = x.patience(number(1));
    for (int i = 0; i < 100; ++i)
      x.observed(number(2), some_time(chance, 1h));
    CHECK(x.patience(number(1)) == before);
  }
}
