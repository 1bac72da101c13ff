#include "actors/matchmaking.hpp"

#include <doctest/doctest.h>

#include "runtime/config.hpp"
#include "runtime/planning/planner.hpp"
#include "tests/actors/node.hpp"
#include "tests/support/tiny_trainer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// Two trainers and a helper, connected, with a conductor each that the test
/// plays.
struct three {
  three() {
    for (std::uint8_t i = 1; i <= 3; ++i) {
      std::vector<std::uint8_t> seeds;
      for (std::uint8_t j = 1; j < i; ++j)
        seeds.push_back(j);
      auto r = i == 3 ? role::auxiliary : role::trainer;
      nodes.push_back(std::make_unique<node>(world, i, seeds, r));
      auto& n = *nodes.back();
      matchmaking_config c;
      c.self = n.id;
      c.role = r;
      c.settings = tiny_charter(10, 64).settings();
      c.seed = i;
      n.replace(&wiring::matchmaking, (*n.system).spawn(matchmaking, c));
      tell_facts(i - 1, 4);
    }
    REQUIRE(world.run_until(
        [&] {
          return std::all_of(nodes.begin(), nodes.end(),
                             [](auto& n) { return n->companions() == 2; });
        },
        5s));
  }

  void tell_facts(std::size_t i, std::uint64_t step, bool open = true,
                  std::uint64_t believable = 1000) {
    matchmaking_facts facts;
    facts.believable_samples = believable;
    facts.step = step;
    facts.state = digest_of(&step, sizeof(step));
    facts.gradient_values = tiny_trainer::values;
    facts.open = open;
    if (i == 2)
      facts.gradient_values = 0;
    caf::anon_send(nodes[i]->wired.matchmaking, facts);
  }
  void lead() {
    lead_group order;
    order.invitees = {contact_of(2), contact_of(3)};
    order.roles = {role::trainer, role::auxiliary};
    order.answer_patience = 3s;
    order.round_patience = 2s;
    caf::anon_send(nodes[0]->wired.matchmaking, order);
  }
  void freeze(std::size_t i, std::uint64_t samples) {
    auto asked = nodes[i]->conductor->last<freeze_wanted>();
    caf::anon_send(nodes[i]->wired.matchmaking,
                   gradient_frozen{asked.group, samples, 1.5});
  }
  bool formed(std::size_t i) const {
    return nodes[i]->conductor->count<group_formed>() != 0;
  }
  group_formed group(std::size_t i) const {
    return nodes[i]->conductor->last<group_formed>();
  }
  std::size_t dissolved(std::size_t i) const {
    return nodes[i]->conductor->count<group_dissolved>();
  }

  test_world world;
  std::vector<std::unique_ptr<node>> nodes;
};

} // namespace

TEST_CASE("a leader, a follower and a helper become a group with one plan") {
  three x;
  x.lead();
  x.world.settle();
  REQUIRE(x.nodes[0]->conductor->count<freeze_wanted>() == 1);
  REQUIRE(x.nodes[1]->conductor->count<freeze_wanted>() == 1);
  CHECK_FALSE(x.formed(0));
  x.freeze(0, 40);
  x.freeze(1, 24);
  if (x.nodes[2]->conductor->count<freeze_wanted>() != 0)
    x.freeze(2, 0);
  x.world.settle();
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    REQUIRE(x.formed(i));
    auto group = x.group(i);
    CHECK(group.contract.step == 5);
    CHECK(group.contract.patience_ms == 2000);
    REQUIRE(group.contract.members.size() == 3);
    CHECK(group.contract.members[0].who.id == peer(1));
    CHECK(group.contract.members[0].samples == 40);
    CHECK(group.contract.members[1].samples == 24);
    CHECK(group.contract.members[2].role == role::auxiliary);
    CHECK(plan_digest(group.plan) == group.contract.plan);
  }
}

TEST_CASE("who claims what nobody computes is left out, and doubted") {
  three x;
  x.lead();
  x.world.settle();
  x.freeze(0, 64);
  x.freeze(1, std::uint64_t{1} << 40);
  if (x.nodes[2]->conductor->count<freeze_wanted>() != 0)
    x.freeze(2, 0);
  x.world.settle();
  REQUIRE(x.formed(0));
  for (auto& member : x.group(0).contract.members)
    CHECK(member.who.id != peer(2));
  REQUIRE(x.nodes[0]->conductor->count<members_doubted>() == 1);
  CHECK(x.nodes[0]->conductor->last<members_doubted>().who
        == std::vector<peer_id>{peer(2)});
  CHECK(x.dissolved(1) == 1);
}

TEST_CASE("who stands at another step is left out") {
  three x;
  x.tell_facts(1, 3);
  x.lead();
  x.world.settle();
  CHECK(x.nodes[1]->conductor->count<freeze_wanted>() == 0);
  x.freeze(0, 64);
  if (x.nodes[2]->conductor->count<freeze_wanted>() != 0)
    x.freeze(2, 0);
  x.world.settle();
  REQUIRE(x.formed(0));
  CHECK_FALSE(x.formed(1));
  for (auto& member : x.group(0).contract.members)
    CHECK(member.who.id != peer(2));
}

TEST_CASE("who is not open answers no, and at once") {
  three x;
  x.tell_facts(1, 4, false);
  x.lead();
  x.world.settle();
  x.freeze(0, 64);
  if (x.nodes[2]->conductor->count<freeze_wanted>() != 0)
    x.freeze(2, 0);
  x.world.settle();
  CHECK(x.formed(0));
  CHECK(x.nodes[1]->conductor->count<freeze_wanted>() == 0);
}

TEST_CASE("a follower that never answers is waited for, then left out") {
  three x;
  x.lead();
  x.world.settle();
  x.freeze(0, 64);
  if (x.nodes[2]->conductor->count<freeze_wanted>() != 0)
    x.freeze(2, 0);
  x.world.run_for(2s);
  CHECK_FALSE(x.formed(0));
  x.world.run_for(2s);
  REQUIRE(x.formed(0));
  // The helper is of no use to one alone.
  CHECK(x.group(0).contract.members.size() == 1);
  // The one that was left out accumulates on.
  CHECK(x.dissolved(1) == 1);
}

TEST_CASE("a leader that is lost releases its followers") {
  three x;
  x.lead();
  x.world.settle();
  x.freeze(1, 24);
  x.world.settle();
  CHECK(x.dissolved(1) == 0);
  x.nodes[0]->crash();
  x.world.settle();
  CHECK(x.dissolved(1) == 1);
  CHECK_FALSE(x.formed(1));
}

TEST_CASE("a leader that forgets its group releases its followers in the end") {
  three x;
  x.lead();
  x.world.settle();
  x.freeze(1, 24);
  x.world.settle();
  caf::anon_send_exit(x.nodes[0]->wired.matchmaking, caf::exit_reason::kill);
  x.world.run_for(limits::answer_cap - 5s);
  CHECK(x.dissolved(1) == 0);
  x.world.run_for(5s + 2 * limits::follower_grace);
  CHECK(x.dissolved(1) == 1);
}

TEST_CASE("a follower that is lost does not hold the group up") {
  three x;
  x.lead();
  x.world.settle();
  x.freeze(0, 64);
  if (x.nodes[2]->conductor->count<freeze_wanted>() != 0)
    x.freeze(2, 0);
  x.world.settle();
  CHECK_FALSE(x.formed(0));
  x.nodes[1]->crash();
  x.world.settle();
  REQUIRE(x.formed(0));
  CHECK(x.group(0).contract.members.size() == 1);
}

TEST_CASE("one group at a time, and a new averager ends the current one") {
  three x;
  x.lead();
  x.world.settle();
  x.freeze(0, 40);
  x.freeze(1, 24);
  if (x.nodes[2]->conductor->count<freeze_wanted>() != 0)
    x.freeze(2, 0);
  x.world.settle();
  REQUIRE(x.formed(0));
  x.lead();
  x.world.settle();
  CHECK(x.dissolved(0) == 1);
  CHECK(x.nodes[0]->conductor->count<freeze_wanted>() == 1);
  SUBCASE("the round ends") {
    round_over over;
    over.contract = x.group(0).contract;
    caf::anon_send(x.nodes[0]->wired.matchmaking, over);
  }
  SUBCASE("the averager is replaced") {
    auto fresh = x.nodes[0]->system.pretend<averager_actor>();
    x.nodes[0]->wired.averager = fresh.handle;
    x.nodes[0]->wire();
  }
  x.world.settle();
  x.lead();
  x.world.settle();
  CHECK(x.nodes[0]->conductor->count<freeze_wanted>() == 2);
}

TEST_CASE("two trainers without a line average at the helper that has one to "
          "both; who has none to it is left out, and its cell hears of it") {
  three x;
  auto cell = x.nodes[1]->system.pretend<cell_actor>();
  x.nodes[1]->replace(&wiring::cell, cell.handle);
  x.world.settle(); // The roster tells anew who is connected.
  auto relay = [&](std::uint8_t with, bool relayed) {
    peer_joined news;
    news.who = contact_of(with);
    news.relayed = relayed;
    caf::anon_send(x.nodes[1]->wired.matchmaking, news);
  };
  relay(1, true);
  bool helper = true;
  SUBCASE("no line to the other trainer") {
  }
  SUBCASE("nor to the helper") {
    relay(3, true);
    helper = false;
  }
  SUBCASE("a line has come about") {
    relay(3, true);
    relay(3, false);
  }
  x.world.settle();
  x.lead();
  x.world.settle();
  x.freeze(0, 64);
  x.freeze(1, 24);
  if (x.nodes[2]->conductor->count<freeze_wanted>() != 0)
    x.freeze(2, 0);
  x.world.settle();
  REQUIRE(x.formed(0));
  auto chunks = x.group(0).plan.chunks;
  if (helper) {
    REQUIRE(x.formed(1));
    CHECK(x.group(0).contract.members[1].relayed
          == std::vector<peer_id>{peer(1)});
    CHECK(chunks.size() == 3);
    CHECK(chunks[0] + chunks[1] == 0);
    CHECK(cell->count<averaged_without_us>() == 0);
  } else {
    CHECK(chunks.size() == 1);
    CHECK_FALSE(x.formed(1));
    CHECK(x.dissolved(1) == 1);
    CHECK(cell->last<averaged_without_us>().members
          == std::vector<peer_id>{peer(1)});
  }
}

TEST_CASE("a helper averages for those that it averaged for last, not for "
          "whoever asks") {
  three x;
  round_over over;
  over.committed = true;
  for (std::uint8_t i : {1, 9}) {
    potluck::group_member member;
    member.who.id = peer(i);
    member.samples = 40;
    over.contract.members.push_back(member);
  }
  peer_joined another;
  another.who.id = peer(9);
  caf::anon_send(x.nodes[2]->wired.matchmaking, another);
  caf::anon_send(x.nodes[2]->wired.matchmaking, over);
  x.world.settle();
  auto invited_by_the_other = [&] {
    lead_group order;
    order.invitees = {contact_of(3)};
    order.roles = {role::auxiliary};
    order.answer_patience = 1s;
    order.round_patience = 2s;
    caf::anon_send(x.nodes[1]->wired.matchmaking, order);
    x.world.settle();
    return x.nodes[2]->conductor->count<freeze_wanted>();
  };
  SUBCASE("as long as two of them are here") {
    CHECK(invited_by_the_other() == 0);
    x.nodes[0]->crash();
    x.world.run_for(2s);
    CHECK(invited_by_the_other() == 1);
  }
  SUBCASE("and as long as they may come again") {
    x.world.run_for(limits::followed_for);
    CHECK(invited_by_the_other() == 1);
  }
  SUBCASE("whom it follows at once") {
    x.lead();
    x.world.settle();
    CHECK(x.nodes[2]->conductor->count<freeze_wanted>() == 1);
  }
}
