#include "runtime/lines/token_bucket.hpp"

#include <doctest/doctest.h>

#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {
const time_point start{1h};
}

TEST_CASE("a bucket begins full and fills no further") {
  token_bucket x{1000, 50};
  CHECK(x.available(start) == 50);
  CHECK(x.available(start + 1h) == 50);
  x.spend(50);
  CHECK(x.available(start + 1h) == 0);
  CHECK(x.available(start + 1h + 10ms) == doctest::Approx(10));
}

TEST_CASE("what is overspent has to be earned") {
  token_bucket x{1000, 50};
  CHECK(x.until(50, start) == 0ns);
  x.spend(150);
  CHECK(x.available(start) == -100);
  CHECK(x.until(0, start) >= 100ms);
  CHECK(x.until(0, start) < 101ms);
  // More than the burst never comes; then the burst it is.
  CHECK(x.until(1e9, start) < 151ms);
  CHECK(x.available(start + x.until(20, start)) >= 20);
}

TEST_CASE("over any time no more passes than the rate and one burst") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    const double rate = 1e3 + chance.uniform01() * 1e8;
    const double burst = 100 + chance.uniform01() * 1e5;
    token_bucket x{rate, burst};
    double passed = 0;
    auto now = start;
    for (int i = 0; i < 2000; ++i) {
      auto part = burst * chance.uniform01();
      auto wait = x.until(part, now);
      now += wait + duration{static_cast<duration::rep>(chance.below(1000))};
      CHECK(x.available(now) >= part * 0.999);
      x.spend(part);
      passed += part;
    }
    const auto seconds = std::chrono::duration<double>(now - start).count();
    CHECK(passed <= 1.001 * (rate * seconds + burst));
    CHECK(passed >= 0.9 * rate * seconds);
  }
}
