#include <doctest/doctest.h>

#include "runtime/membership/split_watch.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t i) {
  peer_id x;
  x.bytes[0] = i;
  return x;
}

time_point at(duration x) {
  return time_point{} + x;
}

} // namespace

TEST_CASE("half of the trainers lost within a moment are a split, said once") {
  split_watch watch;
  CHECK_FALSE(watch.lost(peer(1), 7, at(0s)));
  CHECK_FALSE(watch.lost(peer(2), 6, at(1s)));
  CHECK_FALSE(watch.lost(peer(3), 5, at(2s)));
  auto found = watch.lost(peer(4), 4, at(3s));
  REQUIRE(found);
  CHECK(found->lost == 4);
  CHECK(found->left == 4);
  CHECK(watch.apart());
  CHECK_FALSE(watch.lost(peer(5), 3, at(4s)));
}

TEST_CASE("losses far apart, or of one peer, are no split") {
  split_watch watch;
  CHECK_FALSE(watch.lost(peer(1), 3, at(0s)));
  CHECK_FALSE(watch.lost(peer(2), 2, at(1min)));
  CHECK_FALSE(watch.lost(peer(3), 1, at(2min)));
  split_watch pair;
  CHECK_FALSE(pair.lost(peer(1), 1, at(0s)));
  // The same one again is still one.
  CHECK_FALSE(pair.lost(peer(1), 1, at(1s)));
  CHECK_FALSE(watch.apart());
}

TEST_CASE("a split is over when half of the lost are back") {
  split_watch watch;
  watch.lost(peer(1), 3, at(0s));
  REQUIRE(watch.lost(peer(2), 2, at(0s)));
  CHECK_FALSE(watch.returned(peer(9)));
  CHECK(watch.returned(peer(1)));
  CHECK_FALSE(watch.apart());
  CHECK_FALSE(watch.returned(peer(2)));
  // The next one is found again.
  watch.lost(peer(1), 3, at(5s));
  CHECK(watch.lost(peer(2), 2, at(5s)));
}
