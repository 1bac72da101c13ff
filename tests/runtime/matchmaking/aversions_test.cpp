#include "runtime/matchmaking/aversions.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/random.hpp"

using namespace potluck;

namespace {

peer_id peer(std::size_t i) {
  peer_id id;
  id.bytes[0] = static_cast<std::uint8_t>(i);
  return id;
}

aversions nobody_avoids(std::size_t members) {
  aversions result;
  for (std::size_t i = 0; i < members; ++i)
    result[peer(i)];
  return result;
}

group_id draw(std::uint64_t attempt) {
  return random_stream{attempt}.draw<group_id>();
}

} // namespace

TEST_CASE("nobody is left out where all work together") {
  auto members = nobody_avoids(5);
  CHECK(left_out(peer(0), members, draw(1)).empty());
  members[peer(1)] = {peer(1), peer(77)}; // Itself, and one that is not here.
  CHECK(left_out(peer(0), members, draw(1)).empty());
  CHECK(left_out(peer(0), nobody_avoids(1), draw(1)).empty());
}

TEST_CASE("whom more than half of the others avoid is always out, alone") {
  auto members = nobody_avoids(5);
  for (std::size_t i : {1, 2, 3}) // Of four others.
    members[peer(i)] = {peer(4)};
  members[peer(4)] = {peer(1), peer(2), peer(3)};
  for (std::uint64_t attempt = 0; attempt < 50; ++attempt)
    CHECK(left_out(peer(0), members, draw(attempt)) == std::set{peer(4)});
}

TEST_CASE("of two that will not work together one is out, each half the time") {
  for (bool mutual : {false, true}) {
    auto members = nobody_avoids(6);
    members[peer(2)] = {peer(5)};
    if (mutual)
      members[peer(5)] = {peer(2)};
    std::size_t first = 0;
    for (std::uint64_t attempt = 0; attempt < 1000; ++attempt) {
      auto out = left_out(peer(0), members, draw(attempt));
      REQUIRE(out.size() == 1);
      CHECK((out.count(peer(2)) == 1 || out.count(peer(5)) == 1));
      first += out.count(peer(2));
    }
    CHECK(first > 400);
    CHECK(first < 600);
  }
}

TEST_CASE("the leader stays, whoever avoids whom") {
  auto members = nobody_avoids(4);
  members[peer(0)] = {peer(1)};
  members[peer(2)] = {peer(0)};
  CHECK(left_out(peer(0), members, draw(1)) == std::set{peer(1), peer(2)});
}

TEST_CASE("whom several avoid is nearly always the one that is out") {
  auto members = nobody_avoids(14);
  for (std::size_t i = 1; i <= 5; ++i)
    members[peer(i)] = {peer(13)};
  std::size_t out = 0;
  std::size_t honest = 0;
  for (std::uint64_t attempt = 0; attempt < 1000; ++attempt) {
    auto those = left_out(peer(0), members, draw(attempt));
    out += those.count(peer(13));
    honest += those.size() - those.count(peer(13));
  }
  CHECK(out > 990); // It stays when it wins 5/6, 4/5, ... 1/2: 1 in 720.
  CHECK(honest < 500);
}

TEST_CASE("those who stay can all work with each other, and no more go") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    auto n = 2 + chance.below(12);
    auto members = nobody_avoids(n);
    for (auto pairs = chance.below(n * 2); pairs > 0; --pairs)
      members[peer(chance.below(n))].insert(peer(chance.below(n + 2)));
    auto leader = peer(chance.below(n));
    auto out = left_out(leader, members, draw(seed));
    CHECK(out == left_out(leader, members, draw(seed)));
    CHECK(out.count(leader) == 0);
    auto apart = [&](const peer_id& a, const peer_id& b) {
      return a != b
             && (members.at(a).count(b) != 0 || members.at(b).count(a) != 0);
    };
    for (auto& [a, unused] : members)
      for (auto& [b, unused_too] : members)
        if (out.count(a) == 0 && out.count(b) == 0)
          CHECK_FALSE(apart(a, b));
    for (auto& a : out) {
      REQUIRE(members.count(a) == 1);
      CHECK(std::any_of(members.begin(), members.end(),
                        [&](auto& b) { return apart(a, b.first); }));
    }
  }
}
