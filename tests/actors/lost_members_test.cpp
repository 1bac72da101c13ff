/// Rounds whose members, or the lines between them, are lost.
#include "actors/averager.hpp"

#include <doctest/doctest.h>

#include "tests/actors/averaging_table.hpp"

using namespace potluck;
using namespace potluck::averaging;

TEST_CASE("wherever a member is lost, the others decide alike") {
  int committed = 0;
  int aborted = 0;
  for (std::size_t run = 0; run < 8; ++run)
    for (int frame = 1;; ++frame) {
      auto victim = run / 2;
      auto all_needed = run % 2 == 1;
      CAPTURE(victim);
      CAPTURE(frame);
      CAPTURE(all_needed);
      table t{3, true};
      if (all_needed)
        t.contract.least_samples = 6;
      int sent = 0;
      auto at = host(static_cast<std::uint8_t>(victim + 1));
      t.world.network.judge_frames([&](auto& from, auto&, auto& x) {
        if (from != at || !is_averaging(x) || ++sent < frame)
          return memory_network::fate::arrives;
        return memory_network::fate::cuts;
      });
      t.begin_all();
      std::vector<std::size_t> survivors;
      for (std::size_t i = 0; i < 4; ++i)
        if (i != victim)
          survivors.push_back(i);
      auto ended = t.world.run_until(
          [&] {
            if (sent >= frame)
              t.members[victim]->crash();
            return t.decided(survivors);
          },
          20 * patience);
      REQUIRE(ended);
      std::shared_ptr<const std::vector<float>> mean;
      std::optional<bool> commit;
      for (auto i : survivors) {
        auto over = *t.outcome(i);
        if (i == 3 && !over.committed)
          continue; // A helper that is told nothing gives up by itself.
        CHECK(commit.value_or(over.committed) == over.committed);
        commit = over.committed;
        CHECK((over.committed || all_needed));
        if (over.committed)
          CHECK(over.samples >= t.contract.least_samples);
        if (!over.mean)
          continue;
        CHECK((!mean || *mean == *over.mean));
        mean = over.mean;
      }
      ++(commit.value_or(false) ? committed : aborted);
      if (sent < frame)
        break; // It sends no more than this in a whole round.
    }
  // The sweep met both outcomes.
  CHECK(committed > 0);
  CHECK(aborted > 0);
}

// flaky-lines.json, seed 2: a member that had all it needed lost its lines to
// everybody, and completed the round alone while the others healed it.
TEST_CASE("a member that loses all its lines at once waits for them") {
  table t{3};
  const std::vector<std::size_t> others{1, 2};
  std::vector<contact> away;
  for (auto i : others)
    away.push_back(t.contract.members[i].who);
  auto it = t.members[0]->wired.averager;
  // Its line breaks behind its parts: those of the others are here already.
  t.world.network.judge_frames([&](auto& from, auto& to, auto& x) {
    auto ours = from == host(1) || to == host(1);
    if (!ours || !is_averaging(x))
      return memory_network::fate::arrives;
    auto content = decode(x.head.data(), x.head.size(), x.body.size);
    return to == host(1) && std::holds_alternative<chunk_part>(*content)
               ? memory_network::fate::arrives
               : memory_network::fate::lost;
  });
  t.begin_all();
  t.world.run_for(10ms);
  for (auto& who : away)
    caf::anon_send(it, peer_left{who.id, "the line broke", false});
  for (auto i : others)
    caf::anon_send(
        t.members[i]->wired.averager,
        peer_left{t.contract.members[0].who.id, "the line broke", false});
  REQUIRE(t.world.run_until([&] { return t.decided(others); }, patience));
  t.check_healed(others, 0);
  CHECK_FALSE(t.outcome(0));
  SUBCASE("they come back: it leaves the round to the others") {
    for (auto& who : away)
      caf::anon_send(it, peer_joined{who, role::trainer, {}, {}, {}});
    t.world.run_for(limits::out_of_touch_patience + 100ms);
    REQUIRE(t.outcome(0));
    CHECK_FALSE(t.outcome(0)->committed);
  }
  SUBCASE("they do not: it may be the only one left") {
    t.world.run_for(limits::out_of_touch_patience - 1s);
    CHECK_FALSE(t.outcome(0));
    t.world.run_for(2s);
    CHECK(t.outcome(0));
  }
}

TEST_CASE("two whose line broke send each other everything again") {
  table t{4};
  auto connected = [&](std::size_t member) {
    return t.members[member]->companions() == t.members.size() - 1;
  };
  SUBCASE("in the round: what they said is lost") {
    t.world.network.judge_frames([&](auto& from, auto& to, auto& x) {
      const bool theirs = (from == host(3) && to == host(4))
                          || (from == host(4) && to == host(3));
      return theirs && is_averaging(x) ? memory_network::fate::lost
                                       : memory_network::fate::arrives;
    });
    t.begin_all();
    t.world.run_for(10ms);
    t.world.network.judge_frames({});
    t.world.network.break_oldest(host(3), host(4));
  }
  SUBCASE("before one of them began, which knows of no break") {
    t.world.network.break_oldest(host(3), host(4));
    REQUIRE(t.world.run_until([&] { return !connected(3); }, 1s));
    for (std::size_t i : {0, 1, 3})
      t.begin(i);
    REQUIRE(
        t.world.run_until([&] { return connected(2) && connected(3); }, 10s));
    t.begin(2);
  }
  REQUIRE(t.world.run_until([&] { return t.decided({0, 1, 2, 3}); }, patience));
  for (std::size_t i : {0, 1, 2, 3}) {
    t.check_mean(i);
    CHECK_FALSE(t.outcome(i)->healed);
    CHECK(*t.outcome(i)->mean == *t.outcome(0)->mean);
  }
}

TEST_CASE(
    "of two without a line that the plan counts on the later one leaves") {
  table t{4};
  auto tell_apart = [&](std::size_t member, std::size_t other) {
    peer_joined news;
    news.who = t.contract.members[other].who;
    news.relayed = true;
    caf::anon_send(t.members[member]->wired.averager, news);
  };
  auto others_go_on = [&] {
    for (std::size_t i : {0, 1, 2})
      REQUIRE(t.world.run_until(
          [&] {
            return !t.members[i]
                        ->matchmaking->contents<group_answer, letter>()
                        .empty();
          },
          1s));
  };
  SUBCASE("known before the round") {
    tell_apart(2, 3);
    tell_apart(3, 2);
    t.begin_all();
    others_go_on();
    CHECK(t.decided({3}));
    CHECK_FALSE(t.decided({2}));
  }
  SUBCASE("learned in the round") {
    for (std::size_t i : {0, 2, 3})
      t.begin(i);
    t.world.run_for(10ms);
    tell_apart(2, 3);
    tell_apart(3, 2);
    others_go_on();
    CHECK(t.decided({3}));
    CHECK_FALSE(t.decided({2}));
  }
  SUBCASE("but not where neither averages anything for the other") {
    auto order = [&](std::size_t i) {
      auto plan = potluck::plan(collaboration_of(t.contract));
      plan.chunks = {2, 2, 0, 0};
      t.begin(i, begin_round{t.contract, plan}, t.gradient(i));
    };
    tell_apart(2, 3);
    tell_apart(3, 2);
    for (std::size_t i : {0, 1, 2, 3})
      order(i);
    REQUIRE(t.world.run_until([&] { return t.decided({0, 1, 2, 3}); }, 1s));
    for (std::size_t i : {0, 1, 2, 3})
      t.check_mean(i);
  }
}

TEST_CASE("who was out of touch learns that a round was given up since") {
  table t{3};
  t.contract.least_samples = 4; // The first two have three.
  const auto old = t.contract.group;
  const auto& away = t.contract.members[2].who;
  std::vector<round_standing> told;
  t.world.network.judge_frames([&](auto& from, auto& to, auto& x) {
    auto content = decode(x.head.data(), x.head.size(), x.body.size);
    if (content && from == host(1) && to == host(3))
      if (auto said = std::get_if<round_standing>(&*content))
        told.push_back(*said);
    return memory_network::fate::arrives;
  });
  for (std::size_t i : {0, 1})
    t.begin(i);
  for (std::size_t i : {0, 1})
    caf::anon_send(t.members[i]->wired.averager,
                   peer_left{away.id, "the line broke", false});
  t.world.settle();
  REQUIRE(t.decided({0, 1}));
  CHECK_FALSE(t.outcome(0)->committed);
  auto ask = [&](std::uint32_t epoch) {
    round_settle question;
    question.group = old;
    question.epoch = epoch;
    caf::anon_send(t.members[0]->wired.averager, letter{away.id, question, {}});
    t.world.settle();
  };
  // The next round has begun when it asks.
  t.contract.group.bytes[0] = 2;
  t.begin(0);
  t.world.settle();
  REQUIRE(told.empty());
  ask(5);
  REQUIRE(told.size() == 1);
  CHECK(told[0].group == old);
  CHECK(told[0].epoch == 5);
  CHECK(told[0].standing == standing::aborted);
}
