#include "runtime/membership/hearsay_dials.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1000s};

address at(int host, int port = 7000) {
  return {"192.0.2." + std::to_string(host), static_cast<std::uint16_t>(port)};
}

/// Dials in vain for so long, a hundred times a second.
template <class Where>
std::size_t dials_in(hearsay_dials& x, duration how_long, Where where) {
  std::size_t result = 0;
  int number = 0;
  for (auto now = start; now < start + how_long; now += 10ms) {
    const auto there = where(number++);
    if (x.spend(there, now)) {
      ++result;
      x.failed(there, now);
    }
  }
  return result;
}

} // namespace

TEST_CASE("nobody at an address: it is dialled ever more rarely") {
  hearsay_dials x;
  const auto in_a_minute = dials_in(x, 60s, [](int) { return at(1); });
  CHECK(in_a_minute >= 5);
  CHECK(in_a_minute <= 10);
}

TEST_CASE("a host is dialled about once a second, whatever its ports") {
  hearsay_dials x;
  const auto in_a_minute = dials_in(x, 60s, [](int i) { return at(1, i + 1); });
  CHECK(in_a_minute <= 60 + hearsay_dials::host_at_once);
  CHECK(in_a_minute >= 55);
}

TEST_CASE("made-up hosts together are dialled a few times a second") {
  hearsay_dials x;
  const auto in_a_minute
      = dials_in(x, 60s, [](int i) { return at(i % 250, i + 1); });
  CHECK(in_a_minute
        <= 60 * hearsay_dials::all_a_second + hearsay_dials::all_at_once + 1);
}

TEST_CASE("at one address there is one dial at a time, whoever is said to be") {
  hearsay_dials x;
  REQUIRE(x.spend(at(1), start));
  CHECK_FALSE(x.spend(at(1), start + 1s));
  CHECK(x.spend(at(1, 7001), start + 1s));
  CHECK(x.spend(at(1), start + hearsay_dials::longest_dial));
}

TEST_CASE("who answers costs nothing: a school of forty is met at once") {
  hearsay_dials x;
  for (int port = 1; port <= 40; ++port) {
    REQUIRE(x.spend(at(1, port), start));
    x.answered(at(1, port));
  }
  // One that was away for a moment is no worse for it.
  x.failed(at(1), start);
  CHECK_FALSE(x.spend(at(1), start));
  CHECK(x.spend(at(1), start + 1s));
  x.answered(at(1));
  CHECK(x.spend(at(1), start + 1s));
}
