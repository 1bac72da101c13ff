#include "runtime/matchmaking/invitations.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace potluck;

namespace {

using peers = std::vector<peer_id>;

peer_id peer(std::uint8_t i) {
  peer_id x;
  x.bytes[0] = i;
  return x;
}

group_answer yes(std::uint64_t samples) {
  group_answer x;
  x.accepted = true;
  x.samples = samples;
  return x;
}

invitations of_trainers(std::initializer_list<std::uint8_t> who,
                        bool made_step = false) {
  invitations all;
  for (auto i : who)
    all.add({{peer(i), {}}, role::trainer, 0, made_step});
  return all;
}

peers awaited(const invitations& all) {
  peers result;
  for (const auto& x : all.awaited())
    result.push_back(x.who.id);
  return result;
}

} // namespace

TEST_CASE("nobody is invited twice") {
  invitations all;
  CHECK(all.complete());
  CHECK(all.find(peer(2)) == nullptr);
  CHECK(all.add({{peer(2), {}}, role::auxiliary}));
  CHECK_FALSE(all.add({{peer(2), {}}, role::trainer}));
  REQUIRE(all.find(peer(2)) != nullptr);
  CHECK(all.find(peer(2))->role == role::auxiliary);
  CHECK_FALSE(all.complete());
  all.clear();
  CHECK(all.complete());
  CHECK(all.find(peer(2)) == nullptr);
}

TEST_CASE("an invitation is complete with the last answer, whatever it says") {
  auto all = of_trainers({4, 3, 2});
  CHECK(awaited(all) == peers{peer(2), peer(3), peer(4)});
  all.accepts(peer(3), yes(7));
  all.refuses(peer(2));
  CHECK(awaited(all) == peers{peer(4)});
  CHECK(all.awaits(peer(4)));
  CHECK_FALSE(all.awaits(peer(3)));
  CHECK_FALSE(all.awaits(peer(9)));
  CHECK_FALSE(all.complete());
  CHECK(all.hopeful() == peers{peer(3), peer(4)});
  all.drop(peer(4));
  CHECK(all.complete());
  CHECK(all.hopeful() == peers{peer(3)});
  REQUIRE(all.accepted().size() == 1);
  CHECK(all.accepted()[0].peer.who.id == peer(3));
  CHECK(all.accepted()[0].answer.samples == 7);
  all.refuses(peer(3)); // It thinks better of it.
  CHECK(all.accepted().empty());
}

TEST_CASE("half of those that made the step may not be silent") {
  // With the leader there are four.
  auto all = of_trainers({2, 3, 4}, true);
  all.add({{peer(5), {}}, role::trainer});
  all.add({{peer(6), {}}, role::auxiliary, 0, true});
  CHECK(all.most_makers_silent());
  all.accepts(peer(5), yes(1));
  all.drop(peer(2));
  CHECK(all.most_makers_silent()); // Two of four.
  all.refuses(peer(3));
  CHECK_FALSE(all.most_makers_silent());
  CHECK_FALSE(invitations{}.most_makers_silent());
}

TEST_CASE("auxiliaries that come are no trainers") {
  invitations all;
  all.add({{peer(5), {}}, role::auxiliary});
  CHECK_FALSE(all.no_trainer_comes()); // None was invited.
  all.add({{peer(2), {}}, role::trainer});
  all.accepts(peer(5), yes(0));
  CHECK(all.no_trainer_comes());
  all.accepts(peer(2), yes(1));
  CHECK_FALSE(all.no_trainer_comes());
}

TEST_CASE("of two equal halves the one without the first trainer gives way") {
  auto all = of_trainers({2, 3, 4});
  all.accepts(peer(2), yes(1));
  all.refuses(peer(3));
  CHECK_FALSE(all.outnumber(peer(1), {}));
  all.refuses(peer(4));
  CHECK_FALSE(all.outnumber(peer(1), {})); // Two and two, with the first.
  CHECK(all.outnumber(peer(9), {peer(1)}));
  CHECK(all.outnumber(peer(1), {peer(8)})); // Three of five.
  // Shunned and refusing, it counts once.
  CHECK_FALSE(all.outnumber(peer(1), {peer(3)}));
}

TEST_CASE("of two equal halves the leader's gives way to the first's") {
  auto all = of_trainers({3, 4, 5});
  all.accepts(peer(5), yes(1));
  all.refuses(peer(3));
  all.refuses(peer(4));
  CHECK(all.outnumber(peer(6), {}));
  CHECK_FALSE(all.outnumber(peer(2), {}));
}

TEST_CASE(
    "auxiliaries that refuse and trainers that are lost are against nobody") {
  auto all = of_trainers({2, 3});
  all.add({{peer(4), {}}, role::auxiliary});
  all.refuses(peer(4));
  all.drop(peer(2));
  all.drop(peer(3));
  CHECK_FALSE(all.outnumber(peer(9), {}));
  all.refuses(peer(2));
  all.drop(peer(2)); // It stays against the group.
  CHECK(all.outnumber(peer(9), {}));
}
