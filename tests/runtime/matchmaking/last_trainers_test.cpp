#include "runtime/matchmaking/last_trainers.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

/// Led by the first.
group_contract contract_of(const std::vector<std::uint8_t>& trainers) {
  group_contract result;
  for (auto i : trainers) {
    group_member x;
    x.who.id = peer(i);
    x.samples = 10;
    result.members.push_back(x);
  }
  group_member helper;
  helper.who.id = peer(99);
  helper.role = role::auxiliary;
  result.members.push_back(helper);
  return result;
}

/// Peers 1 to 9 are connected; 1, 2 and 3 have made a step.
struct auxiliary {
  auxiliary() {
    for (std::uint8_t i = 1; i <= 9; ++i)
      it.joined(peer(i));
    CHECK(it.follows(peer(7), now)); // It knows nobody yet.
    it.made(contract_of({1, 2, 3}), {}, now);
  }

  last_trainers it;
  time_point now{1h};
};

} // namespace

TEST_CASE("whoever made the last step is followed, and before others") {
  auxiliary x;
  CHECK(x.it.follows(peer(3), x.now));
  CHECK_FALSE(x.it.follows(peer(7), x.now));
  CHECK_FALSE(x.it.follows(peer(99), x.now));
  CHECK(x.it.comes_before(peer(3), peer(7)));
  CHECK_FALSE(x.it.comes_before(peer(7), peer(3)));
  CHECK_FALSE(x.it.comes_before(peer(3), peer(2)));
}

TEST_CASE("with one of them left anybody is followed, since that may be a "
          "stranger who came first") {
  auxiliary x;
  x.it.left(peer(1));
  CHECK_FALSE(x.it.follows(peer(7), x.now));
  x.it.left(peer(2));
  CHECK(x.it.follows(peer(7), x.now));
}

TEST_CASE("one of them alone keeps it from nobody") {
  auxiliary x;
  x.now += 50s;
  x.it.made(contract_of({1}), {}, x.now);
  CHECK(x.it.comes_before(peer(2), peer(7)));
  x.now += 10s;
  CHECK(x.it.follows(peer(7), x.now));
}

TEST_CASE("after a pause they are not waited for as long again") {
  auxiliary x;
  x.now += 8h;
  x.it.made(contract_of({1, 2, 3}), {}, x.now);
  x.now += limits::followed_for_at_most - 1s;
  CHECK_FALSE(x.it.follows(peer(7), x.now));
  x.now += 1s;
  CHECK(x.it.follows(peer(7), x.now));
}

TEST_CASE("they are waited for as long as their steps take, twice") {
  auxiliary x;
  x.now += 50s;
  CHECK_FALSE(x.it.follows(peer(7), x.now));
  x.it.made(contract_of({2, 1}), {}, x.now);
  x.now += 99s;
  CHECK_FALSE(x.it.follows(peer(7), x.now));
  x.now += 1s;
  CHECK(x.it.follows(peer(7), x.now));
}

TEST_CASE("what a stranger lists, or fewer have made, takes it from nobody") {
  auxiliary x;
  x.it.made(contract_of({7}), {}, x.now);
  CHECK_FALSE(x.it.follows(peer(7), x.now));
  // It lists more, but these have brought nothing.
  x.it.made(contract_of({7, 1, 2, 3, 4}), {1, 2, 3, 4}, x.now);
  CHECK_FALSE(x.it.follows(peer(7), x.now));
  auto idle = contract_of({7, 4, 5, 6});
  for (auto& member : idle.members)
    member.samples = 0;
  x.it.made(idle, {}, x.now);
  CHECK_FALSE(x.it.follows(peer(7), x.now));
  // More others do: the run has gone on with them.
  x.it.made(contract_of({7, 4, 5, 6}), {}, x.now);
  CHECK(x.it.follows(peer(7), x.now));
  CHECK_FALSE(x.it.follows(peer(1), x.now));
}
