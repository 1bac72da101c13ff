#include "runtime/membership/reachability.hpp"

#include <doctest/doctest.h>

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

const std::vector<peer_id> everybody{peer(1), peer(2), peer(3), peer(4)};

} // namespace

TEST_CASE("a peer that nobody has tried to reach counts as reachable") {
  reachability x;
  CHECK(x.reachable());
  CHECK_FALSE(x.ask({}, at(0s)));
  CHECK(x.reachable());
}

TEST_CASE("one who has reached us is enough, and nobody else is asked") {
  reachability x;
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  CHECK_FALSE(x.ask(everybody, at(1s))); // Until it has answered.
  x.answered(peer(1), true, at(1s));
  CHECK(x.reachable());
  CHECK_FALSE(x.ask(everybody, at(2s)));
}

TEST_CASE("most of three decide") {
  reachability x;
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  x.answered(peer(1), false, at(1s));
  CHECK(x.reachable()); // It may lie, or be unable to dial anybody.
  CHECK(x.ask(everybody, at(1s)) == peer(2));
  SUBCASE("could not") {
    x.answered(peer(2), false, at(2s));
    CHECK(x.ask(everybody, at(2s)) == peer(3));
    SUBCASE("two") {
      x.answered(peer(3), true, at(3s));
    }
    SUBCASE("three") {
      x.answered(peer(3), false, at(3s));
    }
    CHECK_FALSE(x.reachable());
  }
  SUBCASE("could") {
    x.answered(peer(2), true, at(2s));
    CHECK(x.ask(everybody, at(2s)) == peer(3));
    x.answered(peer(3), true, at(3s));
    CHECK(x.reachable());
  }
  CHECK_FALSE(x.ask(everybody, at(4s)));
}

TEST_CASE("where fewer are there to ask, they decide") {
  reachability x;
  CHECK(x.ask({peer(1)}, at(0s)) == peer(1));
  CHECK_FALSE(x.ask({peer(1)}, at(1s)));
  x.answered(peer(1), false, at(2s));
  CHECK(x.reachable());
  CHECK_FALSE(x.ask({peer(1)}, at(3s)));
  CHECK_FALSE(x.reachable());
  // Who comes later is asked, too.
  CHECK(x.ask({peer(1), peer(2)}, at(4s)) == peer(2));
  x.answered(peer(2), true, at(5s));
  CHECK(x.reachable());
}

TEST_CASE("an answer that is lost is asked for again after a while") {
  reachability x;
  CHECK(x.ask({peer(1)}, at(0s)) == peer(1));
  CHECK_FALSE(x.ask({peer(1)}, at(1min)));
  CHECK(x.reachable());
  CHECK(x.ask({peer(1)}, at(duration{reachability::validity})) == peer(1));
}

TEST_CASE("only who was asked has a vote, and only one") {
  reachability x;
  x.answered(peer(1), false, at(0s));
  CHECK(x.reachable());
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  x.answered(peer(2), false, at(1s));
  CHECK(x.reachable());
  x.answered(peer(1), true, at(1s));
  x.answered(peer(1), false, at(1s));
  CHECK(x.reachable());
}

TEST_CASE("who keeps silent is not waited for") {
  reachability x;
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  const auto later = duration{reachability::patience};
  CHECK_FALSE(x.ask(everybody, at(later - 1s)));
  CHECK(x.ask(everybody, at(later)) == peer(2));
  x.answered(peer(2), false, at(later));
  x.answered(peer(1), false, at(later + 1s)); // Late, but it is an answer.
  CHECK(x.ask({peer(1), peer(2)}, at(later + 2s)) == std::nullopt);
  CHECK_FALSE(x.reachable());
}

TEST_CASE("who connects by itself need not be asked") {
  reachability x;
  x.came(peer(4), at(0s));
  CHECK_FALSE(x.ask(everybody, at(0s)));
  CHECK(x.reachable());
}

TEST_CASE("a crowd that connects does not outvote those who were asked") {
  reachability x;
  for (auto id : {peer(1), peer(2), peer(3)}) {
    CHECK(x.ask(everybody, at(0s)) == id);
    x.answered(id, false, at(0s));
  }
  for (std::uint8_t i = 10; i < 100; ++i)
    x.came(peer(i), at(1s));
  CHECK_FALSE(x.reachable());
}

TEST_CASE("votes are taken again after a while, and where the peer moves") {
  reachability x;
  CHECK(x.ask({peer(1)}, at(0s)) == peer(1));
  x.answered(peer(1), false, at(1s));
  CHECK_FALSE(x.ask({peer(1)}, at(2s))); // There is nobody else.
  CHECK_FALSE(x.reachable());
  duration later = reachability::validity;
  SUBCASE("after a while") {
    CHECK_FALSE(x.ask({peer(1)}, at(later - 1s)));
  }
  SUBCASE("where it moves") {
    later = 3s;
    x.moved();
  }
  CHECK(x.ask({peer(1)}, at(later)) == peer(1));
  CHECK_FALSE(x.reachable()); // Until there is an answer.
  x.answered(peer(1), true, at(later));
  CHECK(x.reachable());
}
