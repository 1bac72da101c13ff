#include "runtime/moshpit/redraw_latch.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

using said = std::vector<std::uint64_t>;

/// Decided by the contracts of steps 4, 5 and 6.
redraw_latch decided() {
  redraw_latch x;
  for (std::uint64_t step : {4, 5, 6})
    x.committed(step, true);
  return x;
}

constexpr std::uint64_t first = 6 + redraw_latch::notice;

} // namespace

TEST_CASE("three contracts in a row decide, for a little later") {
  redraw_latch x;
  CHECK_FALSE(x.committed(4, true));
  CHECK_FALSE(x.committed(5, true));
  CHECK(x.from() == 0);
  CHECK(x.committed(6, true));
  CHECK(x.from() == first);
  CHECK_FALSE(x.redraws(first - 1));
  CHECK(x.redraws(first));
  CHECK(x.redraws(first + 1));
  CHECK_FALSE(x.committed(7, true)); // Once.
  CHECK(x.from() == first);
}

TEST_CASE("one that does not ask, or a step that was missed, begins anew") {
  redraw_latch x;
  x.committed(1, true);
  x.committed(2, true);
  SUBCASE("one does not ask") {
    x.committed(3, false);
  }
  SUBCASE("a step was missed") {
    x.committed(4, true);
    CHECK_FALSE(x.committed(5, true));
    CHECK(x.committed(6, true));
    return;
  }
  SUBCASE("one step is told twice") {
    CHECK_FALSE(x.committed(2, true));
    CHECK_FALSE(x.committed(2, false));
    CHECK(x.committed(3, true));
    return;
  }
  CHECK_FALSE(x.committed(4, true));
  CHECK_FALSE(x.committed(5, true));
  CHECK(x.committed(6, true));
}

TEST_CASE("who has missed the contracts goes by what most say") {
  redraw_latch x;
  CHECK_FALSE(x.heard({}, 3));
  CHECK_FALSE(x.heard({0, 0, 0}, 3));
  CHECK_FALSE(x.heard({9, 0, 0}, 3)); // A liar, for instance.
  CHECK_FALSE(x.heard({9, 9, 0, 0}, 3));
  CHECK(x.from() == 0);
  CHECK(x.heard({9, 9, 9, 0, 0}, 3));
  CHECK(x.from() == 9);
}

TEST_CASE("of those who say when, the one in the middle counts") {
  redraw_latch x;
  CHECK(x.heard({1, 9, 9, 9, 1000}, 3));
  CHECK(x.from() == 9);
  // Its own contracts told it later than the others.
  auto late = decided();
  CHECK(late.heard({first - 1, first - 1, first - 1}, 7));
  CHECK(late.from() == first - 1);
  // The past is what it was.
  CHECK_FALSE(late.heard({first + 3, first + 3, first + 3}, first));
  CHECK(late.from() == first - 1);
}

TEST_CASE("who has decided waits for the others until that step, and is one of "
          "them then") {
  auto x = decided();
  CHECK_FALSE(x.heard(said(20, 0), 7)); // They have not heard of it yet.
  CHECK_FALSE(x.heard(said(20, 0), first - 1));
  CHECK(x.from() == first);
  CHECK(x.heard(said(20, 0), first));
  CHECK(x.from() == 0);
  // From here on it counts like anybody.
  x.committed(first, true);
  x.committed(first + 1, true);
  CHECK(x.from() == 0);
  CHECK(x.committed(first + 2, true));
}

TEST_CASE("of two halves those who redraw prevail, for they cannot go back") {
  redraw_latch one;
  auto other = decided();
  CHECK(one.heard({first}, first));
  CHECK(one.from() == first);
  CHECK_FALSE(other.heard({0}, first));
  CHECK(other.from() == first);
}

TEST_CASE("who only follows has no vote of its own") {
  redraw_latch x;
  REQUIRE(x.heard({5}, 8)); // Nobody else was there.
  CHECK(x.heard({5, 0, 0}, 8));
  CHECK(x.from() == 0);
  REQUIRE(x.heard({5}, 8));
  CHECK(x.heard({0}, 8)); // The liar is gone.
  CHECK(x.from() == 0);
}

TEST_CASE("silence changes nothing") {
  auto x = decided();
  CHECK_FALSE(x.heard({}, first + 100));
  CHECK(x.redraws(first + 100));
}
