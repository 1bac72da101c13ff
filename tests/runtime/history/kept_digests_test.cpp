#include <doctest/doctest.h>

#include "runtime/history/kept_digests.hpp"
#include "tests/runtime/history/history_peers.hpp"

using namespace potluck;
using namespace potluck::history_peers;

TEST_CASE("the newest steps in a row are known") {
  kept_digests x;
  CHECK_FALSE(x.after(0));
  for (std::uint64_t step = 7; step < 7 + kept_digests::most + 2; ++step)
    x.add(step, state(step));
  CHECK_FALSE(x.after(8));
  REQUIRE(x.after(9));
  CHECK(*x.after(9) == state(9));
  CHECK(x.goes_through(100, state(100)));
  CHECK_FALSE(x.goes_through(100, state(100, 'b')));
  CHECK_FALSE(x.after(7 + kept_digests::most + 2));
}

TEST_CASE("what lies before a gap or another history is not known") {
  kept_digests x;
  x.add(3, state(3));
  x.add(4, state(4));
  SUBCASE("the same once more is none") {
    x.add(4, state(4));
    CHECK(x.after(3));
  }
  SUBCASE("a gap") {
    x.add(6, state(6));
    CHECK_FALSE(x.after(4));
    CHECK_FALSE(x.after(5));
    CHECK(x.after(6));
  }
  SUBCASE("another history") {
    x.restart(4, state(4, 'b'));
    CHECK_FALSE(x.after(3));
    CHECK(*x.after(4) == state(4, 'b'));
  }
}
