#include <doctest/doctest.h>

#include "runtime/config.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/progress/acquaintances.hpp"
#include "runtime/step/leading.hpp"
#include "runtime/ways/one_group.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

constexpr auto patience = 10s;

/// Those have made the step that all hold; the first has led it.
group_contract step_of(std::initializer_list<std::uint8_t> members) {
  group_contract x;
  for (auto i : members) {
    group_member m;
    m.who.id = peer(i);
    m.samples = 1;
    x.members.push_back(m);
  }
  return x;
}

progress_report maker(std::uint8_t number) {
  auto x = report(number);
  x.step_proof.signer.bytes[0] = x.step_proof.proof.bytes[0] = number;
  return x;
}

struct scene {
  scene() : own(report(5, 64)), others(peer(5), 64, false), how(8) {
    own.phase = phase::waiting;
  }
  void hear(progress_report x, time_point at = start) {
    others.joined(x.id, at);
    others.heard(x, at);
  }
  bool leads(time_point now, bool doubted = false) {
    others.tracker().update_self(own, start);
    outlook at{own, others, now, 4s};
    return it.leads(how, at, how.partners(at), doubted, 1s, patience);
  }
  /// Whose invitations are followed.
  std::set<std::uint8_t> followed(bool due, time_point now = start) {
    others.tracker().update_self(own, start);
    it.look(how, {own, others, now, 4s}, due, patience);
    std::set<std::uint8_t> result;
    for (std::uint8_t i = 1; i < 10; ++i)
      if (it.order().follows(peer(i)))
        result.insert(i);
    return result;
  }
  progress_report own;
  acquaintances others;
  one_group how;
  leading it;
};

} // namespace

TEST_CASE("the first of those that could leads, the others wait their turn") {
  scene x;
  x.hear(report(6));
  CHECK(x.leads(start));
  x.hear(report(1));
  CHECK_FALSE(x.leads(start));
  auto turn = limits::leaders_turn * patience;
  for (auto at = start; at < start + turn; at += 1s) {
    x.hear(report(1), at);
    CHECK_FALSE(x.leads(at));
  }
  x.hear(report(1), start + turn);
  CHECK(x.leads(start + turn)); // It let its turn pass.
}

TEST_CASE(
    "nobody follows, or waits for the round of, a leader that miscounts") {
  scene x;
  auto first = report(1);
  x.hear(first);
  CHECK_FALSE(x.leads(start));
  x.it.miscounts(peer(1));
  CHECK(x.leads(start));
  first.phase = phase::averaging; // Alone.
  x.hear(first);
  CHECK(x.leads(start));
  first.phase = phase::waiting;
  x.hear(first);
  x.it.begin_step();
  CHECK_FALSE(x.leads(start));
  first.phase = phase::averaging;
  x.hear(first);
  CHECK_FALSE(x.leads(start)); // It may be an honest one.
}

TEST_CASE("what most average is waited for, though no group forms with them") {
  scene x;
  for (std::uint8_t i : {6, 7, 8}) {
    auto busy = report(i);
    busy.phase = phase::averaging;
    x.hear(busy);
    x.others.tracker().forget(busy.id); // It has held groups up.
  }
  x.hear(report(9));
  auto now = start;
  while (!x.leads(now) && now < start + 3 * limits::round_cap)
    now += 500ms;
  CHECK(now - start >= limits::round_cap);
  CHECK(now - start < 3 * limits::round_cap);
}

TEST_CASE("after a group that came to nothing there is a pause, ever longer") {
  scene x;
  x.it.dissolved(start);
  CHECK(x.it.in_vain());
  CHECK_FALSE(x.leads(start + leading::pause - 1ms));
  CHECK(x.leads(start + leading::pause));
  x.it.dissolved(start);
  CHECK_FALSE(x.leads(start + leading::pause));
  CHECK(x.leads(start + 2 * leading::pause));
  x.it.begin_step();
  CHECK_FALSE(x.it.in_vain());
  CHECK(x.leads(start));
}

TEST_CASE("a peer that has just lost all others makes no step alone") {
  scene x;
  x.hear(report(6));
  x.others.left(peer(6));
  x.others.lost_company(peer(6), start);
  CHECK_FALSE(x.leads(start + limits::reunion_patience - 1s));
  SUBCASE("until they have had the time to come back") {
    CHECK(x.leads(start + limits::reunion_patience));
  }
  SUBCASE("until none of them can be dialled") {
    x.others.left(peer(6));
    CHECK(x.leads(start + 1s));
  }
  SUBCASE("until one of them is back") {
    x.hear(report(6), start + 2s);
    CHECK(x.leads(start + 2s));
  }
}

TEST_CASE("a peer that believes itself doubted asks only after a while") {
  scene x;
  CHECK_FALSE(x.leads(start, true));
  CHECK_FALSE(x.leads(start + patience - 1s, true));
  CHECK(x.leads(start + patience, true));
}

TEST_CASE("a peer that is about to connect is waited for") {
  scene x;
  x.others.heard_of(report(9), true, start);
  CHECK_FALSE(x.leads(start + 1s));
  CHECK(x.leads(start + limits::connecting_patience));
}

TEST_CASE("a peer that is about to enter is waited for, but not for ever") {
  scene x;
  auto entering = report(6, 0, 2);
  entering.phase = phase::joining;
  x.hear(entering);
  SUBCASE("by a group") {
    x.hear(report(7));
    CHECK_FALSE(x.leads(start));
    CHECK_FALSE(x.leads(start + patience - 1s));
    CHECK(x.leads(start + patience));
    CHECK(x.leads(start + patience + 1s)); // Not again at once.
  }
  SUBCASE("longer by who would make the step alone") {
    CHECK_FALSE(x.leads(start));
    // It waits on purpose, and computes no more meanwhile.
    CHECK_FALSE(x.it.overdue(start + 5s, 6s));
    CHECK_FALSE(x.leads(start + limits::entering_alone - 1s));
    SUBCASE("and then leads") {
      CHECK(x.leads(start + limits::entering_alone));
    }
    SUBCASE("unless another one is to, who may know of fewer samples") {
      x.hear(report(1), start + 14s);
      CHECK_FALSE(x.leads(start + 14s));
      CHECK(x.it.overdue(start + 14s, 15s));
    }
  }
}

TEST_CASE("a round of our step that runs without us is waited for") {
  scene x;
  auto busy = report(6);
  busy.phase = phase::averaging;
  x.hear(busy);
  x.hear(report(7));
  CHECK_FALSE(x.leads(start));
  for (auto at = start; at < start + patience; at += 1s) {
    x.hear(busy, at);
    x.hear(report(7), at);
    CHECK_FALSE(x.leads(at));
  }
  x.hear(busy, start + patience);
  x.hear(report(7), start + patience);
  CHECK(x.leads(start + patience));
}

TEST_CASE("a group that does not form in a part of the computing is overdue") {
  scene x;
  x.hear(report(1)); // It is to lead.
  x.own.samples = 100;
  CHECK_FALSE(x.it.overdue(start, 10s)); // None is due.
  CHECK_FALSE(x.leads(start));
  CHECK_FALSE(x.it.overdue(start + 2s, 12s));
  CHECK(x.it.overdue(start + 2500ms, 12500ms));
  x.it.not_due();
  CHECK_FALSE(x.it.overdue(start + 2500ms, 12500ms));
  // An invitation takes its time, however short steps are.
  CHECK_FALSE(x.leads(start + 3s));
  CHECK_FALSE(x.it.overdue(start + 3s + 249ms, 259ms));
  CHECK(x.it.overdue(start + 3s + 250ms, 260ms));
}

TEST_CASE("whoever led the last step leads the next one, and newcomers come "
          "last") {
  scene x;
  x.own.step_proof = maker(5).step_proof;
  x.it.made(x.own.state, step_of({5, 2, 6}), {});
  x.hear(maker(2));
  x.hear(report(1)); // It comes first by id, and has just come.
  x.followed(true);
  CHECK(x.leads(start));
  SUBCASE("not this peer when it has been another one") {
    x.it.made(x.own.state, step_of({6, 2, 5}), {});
    x.hear(maker(6));
    x.followed(true);
    CHECK_FALSE(x.leads(start));
    CHECK(x.it.order().first() == peer(6));
  }
  SUBCASE("not when its gradient is not in the step") {
    x.it.made(x.own.state, step_of({5, 2, 6}), {0});
    x.followed(true);
    CHECK_FALSE(x.leads(start));
    CHECK(x.it.order().first() == peer(2));
  }
  SUBCASE("not when it has forgotten that") {
    x.own.step_proof = {};
    x.followed(true);
    CHECK_FALSE(x.leads(start));
  }
  SUBCASE("not of another state") {
    x.it.made(state(99), step_of({5, 2, 6}), {});
    x.followed(true);
    CHECK_FALSE(x.leads(start)); // By id among those that say to be in it.
    CHECK(x.it.order().first() == peer(2));
  }
}

TEST_CASE("where nobody says that it was in the last step the first id leads") {
  scene x;
  x.it.made(x.own.state, step_of({5, 2}), {});
  x.hear(report(2));
  x.followed(true);
  CHECK_FALSE(x.leads(start));
  CHECK(x.followed(false).size() == 9); // And everybody is followed.
}

TEST_CASE("before a group is due only who is to lead it is followed") {
  scene x;
  x.own.step_proof = maker(5).step_proof;
  x.it.made(x.own.state, step_of({6, 2, 5}), {});
  x.hear(maker(2));
  x.hear(report(1));
  SUBCASE("though it is about to apply the step") {
    x.hear(report(6, 0, 2));
    CHECK(x.followed(false) == std::set<std::uint8_t>{6});
    CHECK(x.followed(true) == std::set<std::uint8_t>{2, 5, 6});
  }
  SUBCASE("who comes next, if it is not there") {
    x.hear(report(6, 0, 2));
    x.others.left(peer(6));
    CHECK(x.followed(false) == std::set<std::uint8_t>{2, 6});
  }
  SUBCASE("until it has let its turn pass") {
    x.hear(maker(6));
    x.followed(true);
    CHECK_FALSE(x.leads(start));
    const auto passed = start + limits::leaders_turn * patience;
    CHECK(x.followed(true, passed - 1s).size() == 3);
    CHECK(x.followed(true, passed).size() == 9);
  }
}
