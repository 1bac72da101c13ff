/// The classes that the agreement on a round is made of, each alone.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/averaging/round/round_course.hpp"
#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;

namespace {

template <class What, class All>
std::size_t count(const All& all) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(),
                    [](auto& x) { return std::holds_alternative<What>(x); }));
}

template <class What, class All>
const What& the_last(const All& all) {
  REQUIRE_FALSE(all.empty());
  return std::get<What>(all.back());
}

member_stand prepared_with(std::uint8_t mean, std::uint32_t ruled = 0) {
  return {standing::prepared, {mean_number(mean), 3, 3}, {}, ruled};
}

/// The first of three trainers, of which each averages a chunk.
struct first_of_three {
  const round_setting setting{3, 0, {1, 1, 1}};
  member_roll roll{contract_of(setting), peer(0)};
  own_side own{contract_of(setting), setting.map(), 0};
  round_leader leader{contract_of(setting), setting.map(), false};
};

} // namespace

TEST_CASE("the lowest epoch counts whose leader is a trainer that is there") {
  member_roll x{contract_of({3, 1}), peer(2)};
  CHECK(*x.acting_epoch(-1) == 0);
  CHECK(*x.acting_epoch(1) == 1);
  CHECK(*x.acting_epoch(3) == 4); // The fourth is no trainer.
  x.lose(0);
  CHECK(*x.acting_epoch(-1) == 1);
  x.suspect(1);
  CHECK(*x.acting_epoch(0) == 2);
  x.trust(1);
  CHECK(*x.acting_epoch(0) == 1);
  x.lose(1);
  x.lose(2);
  CHECK_FALSE(x.acting_epoch(0));
}

TEST_CASE("of two halves the one with the first trainer is not outnumbered") {
  for (std::size_t self : {0, 3}) {
    member_roll x{contract_of({4, 0}), peer(self)};
    for (std::size_t i : {1, 2})
      if (self == 0)
        x.lose(i + 1);
      else
        x.lose(i - 1);
    CHECK_FALSE(x.outnumbered()); // They may be dead.
    for (std::size_t i = 0; i < 4; ++i)
      if (x[i].down)
        x.give_back(i);
    CHECK(x.outnumbered() == (self == 3));
  }
}

TEST_CASE("who gave a round up is lost, and no word of it changes that") {
  member_roll x{contract_of({3, 1}), peer(0)};
  CHECK(x.most_without(2));
  CHECK(x.most_without(3)); // An auxiliary is no trainer.
  x.release(2);
  x.trust(2);
  CHECK(x[2].lost());
  CHECK(x.samples_alive() == 2);
  CHECK_FALSE(x.most_without(1));
}

TEST_CASE("samples of those that are there count, and our own") {
  round_setting setting{3, 0};
  setting.samples = {1, 10, 100};
  member_roll x{contract_of(setting), peer(1)};
  x.lose(0);
  CHECK(x.samples_alive() == 110);
  x.suspect(2);
  CHECK(x.samples_alive() == 10);
}

TEST_CASE("a member's standing follows what it holds and what is ruled") {
  round_setting setting{2, 0, {1, 1}};
  own_side x{contract_of(setting), setting.map(), 1};
  CHECK(x.stand().is == standing::incomplete);
  CHECK_FALSE(x.digest_wanted(false));
  chunk_mean theirs;
  theirs.samples = 2;
  CHECK(x.wants(0, theirs, false));
  CHECK_FALSE(x.wants(1, theirs, false));
  CHECK_FALSE(x.wants(0, theirs, true)); // It comes behind the freeze.
  x.mean_here(theirs);
  CHECK(x.averaged(1, {}, false).size() == 1); // To the other trainer.
  REQUIRE(x.digest_wanted(false));
  x.prepare(x.whole(mean_number(0)), 0);
  CHECK(x.prepared());
  CHECK(x.holds_means());
  CHECK_FALSE(x.digest_wanted(false));
  x.decide(true, x.whole(mean_number(0)));
  CHECK(x.decided());
  CHECK(x.holds_means());
}

TEST_CASE("means that are fetched are those that count, or asked for again") {
  round_setting setting{2, 0};
  own_side x{contract_of(setting), setting.map(), 1};
  const vector_mark wanted{mean_number(0), 2, 2};
  CHECK(x.fetch(0, wanted, false).size() == 1);
  CHECK(x.fetching());
  chunk_mean mean;
  mean.samples = 2;
  x.mean_here(mean);
  SUBCASE("the right ones") {
    CHECK(x.end_fetch(wanted) == own_side::fetched::right);
    CHECK_FALSE(x.fetching());
  }
  SUBCASE("twice others") {
    const vector_mark other{mean_number(1), 2, 2};
    CHECK(x.end_fetch(other) == own_side::fetched::refetch);
    CHECK(x.fetch_again().size() == 1);
    CHECK(x.ledger().version(0) == 0);
    CHECK(x.end_fetch(other) == own_side::fetched::wrong);
    CHECK_FALSE(x.fetching());
  }
}

TEST_CASE("a spectator has no means to fetch, and stands where it stood") {
  round_setting setting{2, 1};
  own_side x{contract_of(setting), setting.map(), 2};
  CHECK(x.spectator());
  CHECK(x.stand().is == standing::spectator);
  CHECK_FALSE(x.wants(0, chunk_mean{}, false));
  x.obey(round_heal{{}, 0, {0, 2}, {{0, 2}}}, {false, true, false});
  CHECK(x.stand().is == standing::spectator);
}

TEST_CASE("the first leader commits when all are prepared alike") {
  first_of_three x;
  x.leader.heard(1, prepared_with(0));
  CHECK(x.leader.rule_if_prepared(x.roll, x.own).empty()); // It is not.
  x.own.prepare({mean_number(0), 3, 3}, 0);
  CHECK(x.leader.rule_if_prepared(x.roll, x.own).empty()); // One is missing.
  SUBCASE("alike") {
    x.leader.heard(2, prepared_with(0));
    auto all = x.leader.rule_if_prepared(x.roll, x.own);
    CHECK(count<send_to_member>(all) == 2);
    CHECK(the_last<round_leader::decide>(all).commit);
  }
  SUBCASE("not alike") {
    x.leader.heard(2, prepared_with(1));
    auto all = x.leader.rule_if_prepared(x.roll, x.own);
    CHECK_FALSE(the_last<round_leader::decide>(all).commit);
  }
  SUBCASE("the last one is lost") {
    x.roll.lose(2);
    auto all = x.leader.rule_if_prepared(x.roll, x.own);
    CHECK(the_last<round_leader::decide>(all).commit);
  }
  SUBCASE("others have done the step without them") {
    x.leader.overtaken();
    x.leader.heard(2, prepared_with(0));
    auto all = x.leader.rule_if_prepared(x.roll, x.own);
    CHECK_FALSE(the_last<round_leader::decide>(all).commit);
  }
}

TEST_CASE("a settle asks all, and rules when all have answered") {
  first_of_three x;
  CHECK(count<send_to_member>(x.leader.settle(0, x.roll, x.own)) == 2);
  CHECK(x.leader.waiting(x.roll));
  CHECK(x.leader.stands(1, {}, x.roll, x.own).empty());
  SUBCASE("committed comes first, and who lacks the means is told from whom") {
    auto all = x.leader.stands(2, {standing::committed, {mean_number(0), 3, 3}},
                               x.roll, x.own);
    CHECK(the_last<round_leader::fetch>(all).holder == 2);
    auto& told = std::get<send_to_member>(all.front());
    CHECK(told.to == 1); // The one that has decided needs no telling.
    CHECK(std::get<round_verdict>(told.what).holder == peer(2));
    CHECK(x.leader.waiting(x.roll));
  }
  SUBCASE("aborted") {
    auto all = x.leader.stands(2, {standing::aborted}, x.roll, x.own);
    CHECK_FALSE(the_last<round_leader::decide>(all).commit);
  }
  SUBCASE("of the prepared the latest ruling counts") {
    x.leader.settle(3, x.roll, x.own);
    x.leader.stands(1, prepared_with(0, 0), x.roll, x.own);
    auto all = x.leader.stands(2, prepared_with(1, 1), x.roll, x.own);
    CHECK(the_last<round_leader::fetch>(all).mean.mean == mean_number(1));
  }
  SUBCASE("nobody is anything: a heal") {
    member_stand some;
    some.chunks = {{0, 1}, {0, 0}, {0, 0}};
    auto all = x.leader.stands(2, some, x.roll, x.own);
    auto& heal = the_last<round_heal>(all);
    CHECK(heal.alive == std::vector<std::uint8_t>{0, 1, 2});
    CHECK(count<send_to_member>(all) == 2);
  }
  SUBCASE("a silent one is suspected, and left out of what follows") {
    auto all = x.leader.expired(x.roll, x.own);
    CHECK(x.roll[2].suspected);
    CHECK(the_last<round_heal>(all).alive == std::vector<std::uint8_t>{0, 1});
  }
}

TEST_CASE("nobody waits for a member without a line to who has the means") {
  first_of_three x;
  auto contract = contract_of(x.setting);
  contract.members[2].relayed = {peer(0)};
  x.leader = round_leader{contract, x.setting.map(), false};
  x.own.prepare({mean_number(0), 3, 3}, 0);
  x.leader.settle(0, x.roll, x.own);
  x.leader.stands(1, prepared_with(0), x.roll, x.own);
  auto all = x.leader.stands(2, {}, x.roll, x.own);
  CHECK(count<send_to_member>(all) == 2); // It hears of the verdict.
  CHECK(the_last<round_leader::decide>(all).commit);
  CHECK_FALSE(x.leader.waiting(x.roll));
}

TEST_CASE("the second heal of as many that comes to a halt is the last") {
  first_of_three x;
  auto settle_once = [&](std::uint32_t epoch) {
    x.leader.settle(epoch, x.roll, x.own);
    x.leader.stands(1, {}, x.roll, x.own);
    return x.leader.stands(2, {}, x.roll, x.own);
  };
  for (std::uint32_t epoch : {0, 3}) {
    auto all = settle_once(epoch);
    REQUIRE(count<round_heal>(all) == 1);
    x.own.obey(the_last<round_heal>(all), x.roll.down());
    CHECK(count<round_leader::settle_again>(x.leader.expired(x.roll, x.own))
          == 1);
    x.own.stop();
  }
  CHECK_FALSE(the_last<round_leader::decide>(settle_once(6)).commit);
}

TEST_CASE("a member opens an epoch of its own above another's") {
  round_setting setting{3, 0};
  round_course x{contract_of(setting), setting.map(), peer(1), false};
  x.answer(0, 3);
  CHECK(x.answered() == 3);
  CHECK_FALSE(x.leading());
  CHECK(x.take().size() == 1);
  x.settle_above(3);
  CHECK(x.answered() == 4);
  CHECK(x.leading());
  CHECK(count<send_to_member>(x.take()) == 2);
  x.settle_above(5);
  CHECK(x.answered() == 7);
  x.answer(2, 6); // A lower one is told so, and changes nothing.
  CHECK(x.answered() == 7);
}

TEST_CASE("a course ends for an auxiliary that is left alone") {
  round_setting setting{1, 1};
  round_course x{contract_of(setting), setting.map(), peer(1), false};
  x.lost(0);
  CHECK_FALSE(the_last<round_decision>(x.take()).commit);
  CHECK_FALSE(x.waiting());
}
