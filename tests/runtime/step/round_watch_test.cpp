#include <doctest/doctest.h>

#include "runtime/config.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/step/round_watch.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

group_formed group_of(std::initializer_list<std::uint8_t> members,
                      std::uint32_t patience_ms = 1000) {
  group_formed x;
  x.contract.group.bytes[0] = 9;
  x.contract.step = 4;
  x.contract.patience_ms = patience_ms;
  for (auto i : members) {
    struct group_member m;
    m.who.id = peer(i);
    m.samples = 10u * i;
    m.loss_sum = 5.0 * i;
    x.contract.members.push_back(m);
  }
  return x;
}

struct seen {
  explicit seen(std::initializer_list<progress_report> reports)
      : others(peer(5), 64, false) {
    others.tracker().update_self(report(5), start);
    for (auto& x : reports) {
      others.joined(x.id, start);
      others.heard(x, start);
    }
  }
  acquaintances others;
};

round_over over(const group_formed& formed, bool committed, double seconds) {
  round_over x;
  x.contract = formed.contract;
  x.committed = committed;
  x.seconds = seconds;
  return x;
}

} // namespace

TEST_CASE("a group is told of once, and a new round begins anew") {
  round_watch x;
  x.lead();
  group_id other;
  other.bytes[0] = 3;
  CHECK(x.is_ours(other)); // Nobody has named the group yet.
  x.freeze_for(group_of({5}).contract.group);
  CHECK_FALSE(x.is_ours(other));
  CHECK(x.told_samples() == 0);
  CHECK(x.tell(64));
  CHECK_FALSE(x.tell(64));
  CHECK(x.told_samples() == 64);
  x.reset();
  CHECK_FALSE(x.told());
  CHECK(x.tell(32));
}

TEST_CASE("a leader cannot ask for endless patience") {
  round_watch x;
  x.form(group_of({5}, 3600'000));
  CHECK(x.formed()->contract.patience_ms
        == limits::leaders_patience * x.patience().count());
}

TEST_CASE("one that has completed the step is asked, once") {
  round_watch x;
  x.form(group_of({1, 2, 3, 5}));
  seen before{{report(1), report(2), report(3)}};
  CHECK(x.hear(report(1, 0, 3), before.others, true, start).empty());
  seen after{{report(1, 0, 4), report(2), report(3)}};
  auto asked = x.hear(report(1, 0, 4), after.others, true, start);
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].what.member == peer(1));
  CHECK(asked[0].after > 0s);
  CHECK(x.hear(report(1, 0, 4), after.others, true, start).empty());
}

TEST_CASE("when most members are ahead the round is left") {
  round_watch x;
  x.form(group_of({1, 2, 5}));
  seen all{{report(1, 0, 4), report(2, 0, 4)}};
  auto asked = x.hear(report(2, 0, 4), all.others, true, start);
  REQUIRE(asked.size() == 2);
  CHECK(asked[1].what.member.empty());
  CHECK(asked[1].after == 0s);
}

TEST_CASE("a step of another group is none of ours where each makes its own") {
  round_watch x;
  x.form(group_of({1, 5}));
  seen apart{{report(1), report(7, 0, 4), report(8, 0, 4)}};
  CHECK(x.hear(report(7, 0, 4), apart.others, false, start).empty());
  // Where it is the same for all, those are asked that have averaged with us.
  CHECK(x.hear(report(7, 0, 4), apart.others, true, start).empty());
  apart.others.averages_with(peer(7));
  CHECK(x.hear(report(7, 0, 4), apart.others, true, start).size() == 1);
  apart.others.averages_with(peer(8));
  CHECK(x.hear(report(8, 0, 4), apart.others, true, start).size() == 1);
}

TEST_CASE("rounds that came to an end say how long to wait, vain ones double") {
  round_watch x;
  auto formed = group_of({1, 2, 3, 4, 5});
  x.form(formed);
  for (auto i = 0; i < 5; ++i)
    CHECK_FALSE(x.over(over(formed, true, 3), 3, start));
  auto known = x.patience();
  CHECK(known < limits::first_round_patience);
  CHECK(x.over(over(formed, false, 1.5), 3, start)); // The leader's failure.
  CHECK(x.patience() == 2 * known);
  SUBCASE("but not where few held it up") {
    auto few = over(formed, false, 1.5);
    few.silent = {peer(1)};
    x.over(few, 3, start);
    CHECK(x.patience() == 2 * known);
  }
  SUBCASE("of another step it is nobody's failure") {
    CHECK_FALSE(x.over(over(formed, false, 1.5), 9, start));
  }
}

TEST_CASE("a step's loss is that of the members in every chunk") {
  round_watch x;
  auto formed = group_of({1, 3, 5});
  x.form(formed);
  auto round = over(formed, true, 1);
  round.left_out = {1};
  x.apply(round);
  x.note_outcome(peer(5));
  CHECK(x.last().loss == doctest::Approx(0.5));
  CHECK(x.last().share == doctest::Approx(50.0 / 60));
  CHECK(x.last().peers == 2);
  x.reset();
  x.note_outcome(peer(5)); // A predecessor's round: the last is still known.
  CHECK(x.last().peers == 2);
}

TEST_CASE("the first plan says so, the next why it differs") {
  round_watch x;
  x.form(group_of({1, 5}));
  CHECK(x.why_planned() == "the first plan");
  x.form(group_of({1, 2, 5}));
  CHECK(x.why_planned() != "the first plan");
}
