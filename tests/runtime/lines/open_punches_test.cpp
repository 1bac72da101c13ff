#include "runtime/lines/open_punches.hpp"

#include <doctest/doctest.h>

using namespace potluck;

TEST_CASE("an attempt has failed when its last punch has, unless one led on") {
  peer_id who, other;
  who.bytes[0] = 1;
  other.bytes[0] = 2;
  open_punches x;
  x.begin(who, 7, {11, 12});
  CHECK_FALSE(x.ended(who, 11));
  CHECK_FALSE(x.ended(who, 11)); // Once.
  CHECK_FALSE(x.ended(other, 12));
  CHECK(x.ended(who, 12) == 7);
  CHECK_FALSE(x.ended(who, 12));
  // A newer attempt is what counts.
  x.begin(who, 8, {13});
  x.begin(who, 9, {14});
  CHECK_FALSE(x.ended(who, 13));
  CHECK(x.ended(who, 14) == 9);
  x.begin(who, 10, {15});
  x.end(who);
  CHECK_FALSE(x.ended(who, 15));
}
