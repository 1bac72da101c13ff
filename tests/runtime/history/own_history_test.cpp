#include "runtime/history/own_history.hpp"

#include <random>

#include <doctest/doctest.h>

#include "tests/runtime/history/history_peers.hpp"

using namespace potluck;
using namespace potluck::history_peers;
using namespace std::chrono_literals;

namespace {

using all = std::vector<progress_report>;

own_history::choice ask(own_history& x, const progress_report& own,
                        const all& others, time_point now = start + 1min,
                        const all& doubted = {}) {
  own_history::reports heard;
  for (auto& r : others)
    heard.push_back(&r);
  own_history::reports aside;
  for (auto& r : doubted)
    aside.push_back(&r);
  return x.better(own, heard, aside, now);
}

std::vector<peer_id> names(const own_history::choice& x) {
  std::vector<peer_id> result;
  for (auto& r : x.donors)
    result.push_back(r.id);
  return result;
}

/// One that has made ten steps in these contracts, the last just before `ask`.
own_history bound(std::size_t self, const group_contract& with,
                  bool one_history = true) {
  own_history x{peer(self), one_history};
  for (std::uint64_t step = 1; step <= 10; ++step) {
    x.holds(step, state(step));
    x.made(with, {}, step < 10 ? start : start + 59s);
  }
  return x;
}

const auto four = contract({{0, 10}, {1, 10}, {2, 10}, {3, 10}});

progress_report liar(std::size_t number) {
  auto x = report(number, 12, 'x');
  x.step = 1'000'000'000;
  x.history_samples = 1'000'000'000'000;
  return x;
}

} // namespace

TEST_CASE("strangers move nobody that trains with others, however many") {
  auto x = bound(0, four);
  all others{report(1, 10), report(2, 10)};
  for (std::size_t i = 10; i < 60; ++i)
    others.push_back(liar(i));
  CHECK(ask(x, report(0, 10), others).donors.empty());
  CHECK(ask(x, report(0, 10), {liar(10)}).donors.empty());
  // Nor do those that follow them, at this step or before.
  others.push_back(report(70, 10, 'x'));
  others.push_back(report(71, 5, 'x'));
  others.push_back(report(72, 5, 'x'));
  CHECK(ask(x, report(0, 10), others).donors.empty());
  CHECK_FALSE(x.has_a_say(report(0, 10), peer(10), start + 1min));
  CHECK(x.has_a_say(report(0, 10), peer(1), start + 1min));
  CHECK(x.is_foreign(report(0, 10), liar(10), start + 1min));
  CHECK_FALSE(x.is_foreign(report(0, 10), report(11, 7), start + 1min));
  CHECK_FALSE(x.is_foreign(report(0, 10), liar(1), start + 1min));
}

TEST_CASE("one member moves nobody beside others, two of three do") {
  auto x = bound(0, four);
  CHECK(ask(x, report(0, 10), {liar(1), report(2, 10), report(3, 9)})
            .donors.empty());
  // A tie.
  CHECK(ask(x, report(0, 10), {report(1, 13), report(2, 13), report(3, 10)})
            .donors.empty());
  auto rival = report(1, 10, 'b');
  CHECK(ask(x, report(0, 10), {rival, report(2, 10, 'b'), report(3, 10)})
            .donors.empty());
  auto choice
      = ask(x, report(0, 10), {rival, report(2, 10, 'b'), report(3, 10, 'b')});
  CHECK(names(choice) == std::vector<peer_id>{peer(1), peer(2), peer(3)});
  CHECK(choice.vouched_for);
}

TEST_CASE("two win a tie against one, whatever samples that claims") {
  const auto three = contract({{0, 10}, {1, 10}, {2, 10'000}});
  auto fast = report(2, 10, 'x');
  fast.history_samples = 1'000'000;
  auto one = bound(0, three);
  CHECK(ask(one, report(0, 10), {report(1, 10), fast}).donors.empty());
  auto other = bound(2, three);
  CHECK(names(ask(other, fast, {report(0, 10), report(1, 10)}))
        == std::vector<peer_id>{peer(0), peer(1)});
}

TEST_CASE("a step that some made without this peer is taken as a mean") {
  const auto eight = contract(
      {{0, 10}, {1, 10}, {2, 10}, {3, 10}, {4, 10}, {5, 10}, {6, 10}, {7, 10}});
  auto x = bound(0, eight);
  all others{report(1, 11), report(2, 11)};
  for (std::size_t i = 3; i < 8; ++i)
    others.push_back(report(i, 10));
  auto choice = ask(x, report(0, 10), others);
  CHECK(names(choice) == std::vector<peer_id>{peer(1), peer(2)});
  CHECK(choice.is_next_step);
  CHECK_FALSE(choice.vouched_for);
  SUBCASE("but not when it cannot be had") {
    x.next_step_failed(start + 1min);
    CHECK(ask(x, report(0, 10), others).donors.empty());
    CHECK_FALSE(
        ask(x, report(0, 10), others, start + 1min + limits::next_step_pause)
            .donors.empty());
  }
  SUBCASE("nor of one, whatever it weighs, beside others") {
    auto few = bound(0, contract({{0, 10}, {1, 10'000}, {2, 10}, {3, 10}}));
    const auto alone = report(1, 11);
    CHECK(ask(few, report(0, 10), {alone, report(2, 10)}).donors.empty());
    // Who else is there may say.
    CHECK(ask(few, report(0, 10), {alone}).is_next_step);
    CHECK(ask(few, report(0, 10), {alone, report(2, 11)}).donors.size() == 2);
  }
  SUBCASE("nor of few, nor of strangers") {
    others[1] = report(2, 10);
    CHECK(ask(x, report(0, 10), others).donors.empty());
    for (std::size_t i = 10; i < 20; ++i)
      others.push_back(report(i, 11));
    CHECK(ask(x, report(0, 10), others).donors.empty());
  }
  SUBCASE("nor where they are two steps ahead") {
    others[0] = report(1, 12);
    others[1] = report(2, 12);
    CHECK(ask(x, report(0, 10), others).donors.empty());
  }
}

TEST_CASE("a liar among those ahead does not choose what is fetched") {
  auto x = bound(0, four);
  auto choice = ask(x, report(0, 10), {liar(1), report(2, 12), report(3, 11)});
  CHECK(names(choice) == std::vector<peer_id>{peer(2)});
}

TEST_CASE("more weight wins, though its history be shorter") {
  auto x = bound(0, contract({{0, 10}, {1, 10}, {2, 10}, {3, 10}, {4, 10}}));
  // Three went on without 0 and 1, who are further.
  x.holds(11, state(11));
  x.made(contract({{0, 10}, {1, 10}}), {}, start + 59s);
  x.holds(12, state(12));
  x.made(contract({{0, 10}, {1, 10}}), {}, start + 59s);
  all others{report(1, 12)};
  for (std::size_t i = 2; i < 5; ++i)
    others.push_back(report(i, 11, 'b'));
  CHECK(names(ask(x, report(0, 12), others))
        == std::vector<peer_id>{peer(2), peer(3), peer(4)});
  // One that computes little has little to say.
  auto y = bound(0, contract({{0, 50}, {1, 50}, {2, 1}, {3, 1}, {4, 50}}));
  y.holds(11, state(11));
  y.made(contract({{0, 10}, {1, 10}}), {}, start + 59s);
  y.holds(12, state(12));
  CHECK(ask(y, report(0, 12), others).donors.empty());
}

TEST_CASE("any two parts of a run end as one, whoever joined them meanwhile") {
  std::mt19937_64 random{7};
  for (auto round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const auto size = 2 + random() % 8;
    const auto part = 1 + random() % (size - 1);
    group_contract common;
    for (std::size_t i = 0; i < size; ++i)
      common.members.push_back(contract({{i, 10}}).members[0]);
    // Equal or unequal machines; newcomers on both sides; some steps each.
    if (random() % 2)
      for (auto& m : common.members)
        m.samples = 5 + random() % 30;
    const std::size_t equal = random() % 3;
    const std::uint64_t steps[] = {4 + random() % 5, 4 + random() % 5};
    const std::size_t newcomers[] = {equal, equal};
    struct side {
      char line;
      std::vector<std::size_t> who;
      std::uint64_t step;
    };
    std::vector<side> sides{{'b', {}, 10 + steps[0]}, {'c', {}, 10 + steps[1]}};
    for (std::size_t i = 0; i < size; ++i)
      sides[i >= part].who.push_back(i);
    for (std::size_t s = 0; s < 2; ++s)
      for (std::size_t i = 0; i < newcomers[s]; ++i)
        sides[s].who.push_back(100 + 10 * s + i);
    all everybody;
    for (auto& s : sides)
      for (auto i : s.who) {
        everybody.push_back(report(i, s.step, s.line));
        everybody.back().history_samples += random() % 3;
      }
    for (auto& r : everybody) // One side, one length.
      r.history_samples
          = everybody[r.state == everybody[0].state ? 0 : everybody.size() - 1]
                .history_samples;
    std::size_t moved = 0;
    for (std::size_t s = 0; s < 2; ++s) {
      auto& mine = sides[s];
      group_contract after;
      for (auto i : mine.who)
        after.members.push_back(contract({{i, 10}}).members[0]);
      const auto self = mine.who.front();
      auto x = own_history{peer(self), true};
      for (std::uint64_t step = 1; step <= mine.step; ++step) {
        x.holds(step, state(step, step > 10 ? mine.line : 'a'));
        x.made(step > 10 ? after : common, {}, start);
      }
      auto own = report(self, mine.step, mine.line);
      all others;
      for (auto& r : everybody)
        if (r.id == own.id)
          own = r;
        else
          others.push_back(r);
      const auto choice = ask(x, own, others, start + 20s);
      moved += !choice.donors.empty() && !choice.is_next_step;
    }
    CHECK(moved == 1);
  }
}

TEST_CASE("of two halves no claim of samples decides which wins") {
  auto x = bound(0, four);
  const all others{liar(2), liar(3), report(1, 10)};
  CHECK(ask(x, report(0, 10), others).donors.empty());
  // Those of the other half yield, whatever they have.
  auto y = bound(2, four);
  all fewer{report(0, 10, 'b'), report(1, 10, 'b'), report(3, 10)};
  for (std::size_t i = 0; i < 2; ++i)
    fewer[i].history_samples = 1;
  CHECK(names(ask(y, report(2, 10), fewer))
        == std::vector<peer_id>{peer(0), peer(1)});
  // Of two single peers that one wins which has gone on.
  auto z = bound(0, contract({{0, 10}, {1, 10}}));
  CHECK(ask(z, report(0, 10), {report(1, 4, 'b')}).donors.empty());
  CHECK(names(ask(z, report(0, 10), {report(1, 14, 'b')}))
        == std::vector<peer_id>{peer(1)});
}

TEST_CASE("a fork counts only by more than half of the last common contract") {
  auto x = bound(0, four);
  const all everybody{report(1, 10), report(2, 10), report(3, 10)};
  const auto then = start + 59s;
  CHECK(ask(x, report(0, 10), everybody, then).donors.empty());
  // Two go another way while one is cut off for a moment.
  const all forked{report(2, 10, 'b'), report(3, 10, 'b')};
  CHECK(ask(x, report(0, 10), forked, then + 1s).donors.empty());
  CHECK(ask(x, report(0, 10), {liar(2), liar(3)}, then + 59s).donors.empty());
  SUBCASE("it stays away") {
    CHECK(names(ask(x, report(0, 10), forked, then + limits::estrangement))
          == std::vector<peer_id>{peer(2), peer(3)});
  }
  SUBCASE("it said goodbye") {
    x.parted(peer(1));
    CHECK(names(ask(x, report(0, 10), forked, then + 1s))
          == std::vector<peer_id>{peer(2), peer(3)});
  }
  SUBCASE("it goes with them") {
    auto all_of_them = forked;
    all_of_them.push_back(report(1, 10, 'b'));
    CHECK(ask(x, report(0, 10), all_of_them, then + 1s).donors.size() == 3);
  }
}

TEST_CASE("a doubted member has its say, and gives nothing") {
  const auto then = start + 59s;
  SUBCASE("it has gone on with the one that is not doubted") {
    auto x = bound(0, contract({{0, 10}, {1, 10}, {2, 10}}));
    const all both{report(1, 10), report(2, 10)};
    ask(x, report(0, 10), both, then);
    const all other{report(2, 12)};
    CHECK(names(ask(x, report(0, 10), other, then, {report(1, 12)}))
          == std::vector<peer_id>{peer(2)});
    // Where it is away it may be with this one.
    CHECK(ask(x, report(0, 10), other, then).donors.empty());
    CHECK(ask(x, report(0, 10), other, then, {report(1, 10)}).donors.empty());
  }
  SUBCASE("alone it is no donor") {
    auto x = bound(0, contract({{0, 10}, {1, 10}}));
    CHECK(ask(x, report(0, 10), {report(1, 10)}, then, {report(2, 12)})
              .donors.empty());
    CHECK(ask(x, report(0, 10), {}, then, {report(1, 12)}).donors.empty());
  }
  SUBCASE("nobody goes by its head") {
    own_history x{peer(0), true};
    CHECK(ask(x, report(0, 0), {report(1, 0)}, then, {report(2, 12)})
              .donors.empty());
  }
}

TEST_CASE("a part that only grew by newcomers is not swayed by an old member") {
  own_history x{peer(0), true};
  for (std::uint64_t step = 1; step <= 5; ++step) {
    x.holds(step, state(step));
    x.made(contract({{0, 10}, {1, 10}}), {}, start);
  }
  for (std::uint64_t step = 6; step <= 10; ++step) {
    x.holds(step, state(step));
    x.made(contract({{0, 10}, {2, 10}, {3, 10}}), {}, start + 1s);
  }
  all others{liar(1), report(2, 10), report(3, 10)};
  CHECK(ask(x, report(0, 10), others, start + 20s).donors.empty());
}

TEST_CASE("a newcomer goes with most that are there") {
  own_history x{peer(0), true};
  const auto own = report(0, 0);
  CHECK(names(ask(x, own, {report(1, 40)})) == std::vector<peer_id>{peer(1)});
  CHECK_FALSE(ask(x, own, {report(1, 40)}).vouched_for);
  all others{report(1, 40), report(2, 41), report(3, 40), report(4, 39)};
  for (std::size_t i = 10; i < 13; ++i) {
    others.push_back(liar(i));
    others.back().state = state(i, 'x');
  }
  // Other newcomers have no say.
  for (std::size_t i = 20; i < 40; ++i)
    others.push_back(report(i, 0));
  auto choice = ask(x, own, others);
  CHECK(names(choice) == std::vector<peer_id>{peer(2)});
  CHECK_FALSE(choice.vouched_for); // By nobody else yet.
  for (auto i : {0, 2})
    others[i] = report(i + 1, 41);
  CHECK_FALSE(ask(x, own, others).vouched_for); // Three of seven.
  others.resize(6);
  choice = ask(x, own, others);
  CHECK(names(choice) == std::vector<peer_id>{peer(1), peer(2), peer(3)});
  CHECK_FALSE(choice.vouched_for); // Three of six.
  others.resize(4);
  CHECK(ask(x, own, others).vouched_for);
}

TEST_CASE("of two that contradict each other a newcomer takes the longer") {
  own_history x{peer(0), true};
  CHECK(names(ask(x, report(0, 0), {report(1, 40), report(2, 20, 'b')}))
        == std::vector<peer_id>{peer(1)});
}

TEST_CASE("of those that come back from checkpoints the newest counts") {
  own_history x{peer(0), true};
  x.holds(10, state(10));
  const auto newer = report(3, 14);
  CHECK(names(ask(x, report(0, 10), {report(1, 10), report(2, 10), newer}))
        == std::vector<peer_id>{peer(3)});
  CHECK(ask(x, report(0, 10), {report(2, 9, 'b')}).donors.empty());
  // Unless few have it, or steps were made meanwhile.
  CHECK(ask(x, report(0, 10),
            {report(1, 10), report(2, 10), newer, report(4, 10), report(5, 10)})
            .donors.empty());
  x.made(contract({{0, 10}, {1, 10}}), {}, start);
  CHECK(ask(x, report(0, 10), {report(1, 10), report(2, 10), newer})
            .donors.empty());
}

TEST_CASE("who has fetched a state goes with more, but not with a single one") {
  own_history x{peer(0), true};
  x.adopts(10, state(10), false);
  CHECK(ask(x, report(0, 10), {report(1, 10), liar(10)}).donors.empty());
  CHECK(names(ask(x, report(0, 10), {report(2, 14)}))
        == std::vector<peer_id>{peer(2)});
}

TEST_CASE(
    "who has fetched a state goes on with those that had it, however many "
    "have come with it") {
  own_history x{peer(0), true};
  x.adopts(10, state(10), false, {peer(1), peer(2)});
  all others{report(1, 11), report(2, 11)};
  for (std::size_t i = 3; i < 9; ++i)
    others.push_back(report(i, 10));
  CHECK(names(ask(x, report(0, 10), others))
        == std::vector<peer_id>{peer(1), peer(2)});
  x.made(contract({{0, 10}, {3, 10}}), {}, start);
  CHECK(ask(x, report(0, 10), others).donors.empty());
}

TEST_CASE(
    "where somebody vouches for a run's peers the heads of those that come "
    "after the first step with others are not counted") {
  own_history x{peer(0), true, false};
  x.holds(1, state(1));
  all liars;
  for (std::size_t i = 10; i < 15; ++i)
    liars.push_back(liar(i));
  auto others = liars;
  others.push_back(report(1, 1));
  const auto own = report(0, 1);
  SUBCASE("for good") {
    ask(x, own, {report(1, 1)}, start);
    x.made(contract({{0, 10}, {1, 10}}), {}, start);
    for (const auto after : {3s, 14s, 15s, 59s}) {
      const auto now = start + after;
      x.heard(peer(1), now);
      CHECK(ask(x, own, others, now).donors.empty());
      CHECK(ask(x, own, liars, now).donors.empty());
      CHECK_FALSE(x.has_a_say(own, peer(10), now));
    }
    // The other of its first step has gone on.
    others.back() = report(1, 3);
    CHECK(names(ask(x, own, others, start + 1min))
          == std::vector<peer_id>{peer(1)});
  }
  SUBCASE("but those of a part that has begun meanwhile are") {
    SUBCASE("there before") {
      ask(x, own, {report(1, 1), report(2, 0), report(3, 0)}, start);
      x.made(contract({{0, 10}, {1, 10}}), {}, start);
    }
    SUBCASE("and those that come at once") {
      x.made(contract({{0, 10}, {1, 10}}), {}, start);
      ask(x, own, {report(1, 1), report(2, 1), report(3, 1)}, start + 2s);
    }
    others = liars;
    for (const auto& y : {report(1, 1), report(2, 4, 'b'), report(3, 4, 'b')})
      others.push_back(y);
    CHECK(names(ask(x, own, others, start + 5s))
          == std::vector<peer_id>{peer(2), peer(3)});
    CHECK(ask(x, own, others, start + 15s).donors.empty());
  }
  SUBCASE("unless each has come back with a state of its own") {
    x.resumes();
    x.made(contract({{0, 10}, {1, 10}}), {}, start);
    CHECK(ask(x, own, others, start + 4s).donors.size() == 5);
  }
}

TEST_CASE("who was left by all follows several, never one alone") {
  auto x = bound(0, four);
  const auto later = start + 59s + limits::estrangement;
  all others{report(10, 20, 'b'), report(11, 20, 'b')};
  CHECK(ask(x, report(0, 10), others, later - 1s).donors.empty());
  CHECK(ask(x, report(0, 10), {others[0]}, later).donors.empty());
  CHECK(names(ask(x, report(0, 10), others, later))
        == std::vector<peer_id>{peer(10), peer(11)});
  // One of those that it knows is back.
  others.push_back(report(1, 10));
  CHECK(ask(x, report(0, 10), others, later).donors.empty());
}

TEST_CASE("a contributor goes with its sponsor") {
  own_history x{peer(0), true};
  auto own = report(0, 10);
  own.contributes = true;
  own.sponsor = peer(1);
  CHECK(ask(x, own, {report(1, 10), liar(2)}).donors.empty());
  auto choice = ask(x, own, {report(1, 11), report(2, 10)});
  CHECK(names(choice) == std::vector<peer_id>{peer(1)});
  CHECK(choice.vouched_for);
}

TEST_CASE("where groups are redrawn all that were met have a say") {
  auto x = bound(0, contract({{0, 10}, {1, 10}}), false);
  x.made(contract({{0, 10}, {2, 10}}), {}, start + 59s);
  x.made(contract({{0, 10}, {3, 10}}), {}, start + 59s);
  CHECK(ask(x, report(0, 10), {liar(1), report(2, 10), report(3, 10)})
            .donors.empty());
  CHECK(names(ask(x, report(0, 10),
                  {report(1, 12), report(2, 12), report(3, 12)}))
            .size()
        == 3);
}

TEST_CASE("a checkpoint is overwritten by what others vouch for") {
  own_history x{peer(0), true};
  CHECK(x.vouched_for()); // By this peer, which has made or resumed it.
  x.adopts(7, state(7), false);
  CHECK_FALSE(x.vouched_for());
  for (unsigned i = 0; i < limits::binding_steps; ++i) {
    CHECK_FALSE(x.vouched_for());
    x.made(four, {}, start);
  }
  CHECK(x.vouched_for());
}

TEST_CASE("a run ends with what most hold that are there, two at least") {
  own_history x{peer(0), true};
  auto held = [&](const all& others) {
    own_history::reports heard;
    for (auto& r : others)
      heard.push_back(&r);
    return x.is_held_by_most(report(0, 50), heard);
  };
  CHECK_FALSE(held({report(1, 50)}));
  CHECK(held({report(1, 50), report(2, 50)}));
  CHECK(held({report(1, 50), report(2, 50), report(3, 49)}));
  CHECK(held({report(1, 50), report(2, 50), report(3, 0), report(4, 0)}));
  CHECK_FALSE(held(
      {report(1, 50), report(2, 50), report(3, 50, 'b'), report(4, 50, 'b')}));
  x.made(four, {}, start); // One of those is needed.
  CHECK(held({report(1, 50), report(9, 50)}));
  CHECK_FALSE(held({report(8, 50), report(9, 50)}));
}

TEST_CASE("the smaller part of a group waits for the other for a moment") {
  auto x = bound(0, contract({{0, 10}, {1, 10}, {2, 10}, {3, 10}, {4, 10}}));
  auto here = [](std::set<std::size_t> who) {
    return [=](const peer_id& id) { return who.count(id.bytes[0]) != 0; };
  };
  CHECK_FALSE(x.waits(here({1, 2}), start));
  CHECK(x.waits(here({1}), start));
  CHECK(x.waits(here({1}), start + limits::parting_patience - 1s));
  CHECK_FALSE(x.waits(here({1}), start + limits::parting_patience));
  CHECK_FALSE(x.waits(here({1, 2}), start + 1min));
  CHECK(x.waits(here({1}), start + 1min)); // Anew.
  x.parted(peer(2));
  CHECK_FALSE(x.waits(here({1}), start + 1min)); // Two of four.
  x.made(contract({{0, 10}, {1, 10}}), {}, start + 1min);
  CHECK_FALSE(x.waits(here({1}), start + 1min));
  auto redrawn = bound(0, four, false);
  CHECK_FALSE(redrawn.waits(here({}), start));
}

TEST_CASE("who has learnt by whom to go is bound to them from the start") {
  own_history x{peer(0), true};
  auto own = report(0, 0);
  CHECK_FALSE(x.goes_by_learnt(start));
  all others;
  for (std::size_t i = 10; i < 15; ++i)
    others.push_back(liar(i));
  others.push_back(report(1, 10));
  CHECK(ask(x, own, others).donors.size() == 5); // Heads.
  x.learn({{peer(1), 1}, {peer(2), 1}}, start);
  CHECK(x.goes_by_learnt(start + 59s));
  const auto choice = ask(x, own, others, start + 1s);
  CHECK(names(choice) == std::vector<peer_id>{peer(1)});
  CHECK(choice.vouched_for);
  CHECK_FALSE(x.has_a_say(own, peer(10), start + 1s));
  // Also one that is to contribute, until it has come.
  own.contributes = true;
  CHECK(names(ask(x, own, others, start + 1s))
        == std::vector<peer_id>{peer(1)});
  // Its first steps with them bind it as any.
  x.adopts(10, state(10), true);
  x.made(four, {}, start + 2s);
  others.back() = report(1, 11);
  CHECK(ask(x, report(0, 11), others, start + 3s).donors.empty());
}

TEST_CASE("who has learnt of those that are gone is as any newcomer") {
  own_history x{peer(0), true};
  x.learn({{peer(1), 1}, {peer(2), 1}}, start);
  // Those that are back without a history are as good as gone.
  auto back = report(1, 0);
  back.history_samples = 0;
  ask(x, report(0, 0), {back}, start + 50s);
  CHECK_FALSE(x.goes_by_learnt(start + 60s));
  CHECK(names(ask(x, report(0, 0), {report(7, 5)}, start + 1min))
        == std::vector<peer_id>{peer(7)});
}
