#include <doctest/doctest.h>

#include "runtime/step/trials.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

const std::set<peer_id> members{peer(1), peer(2), peer(3)};

/// They have made steps for as long.
trials after(duration how_long) {
  trials x;
  for (duration t{0}; t < how_long; t += 1s)
    x.made(members, 1s, start);
  return x;
}

std::size_t out(const trials& x, const std::set<peer_id>& of, time_point now) {
  std::size_t result = 0;
  for (const auto& id : of)
    result += x.out(id, now);
  return result;
}

} // namespace

TEST_CASE("who holds up for longer than it has earned is out for a while") {
  auto x = after(60s); // Each has earned 3 s.
  x.held_up({peer(1), peer(8)}, 3s, start);
  CHECK_FALSE(x.out(peer(1), start));
  CHECK(x.out(peer(8), start));
  CHECK_FALSE(x.out(peer(9), start)); // It is new, and let in.
  const auto until = start + limits::trial_share * 3s;
  CHECK(x.out(peer(8), until - 1ms));
  CHECK_FALSE(x.out(peer(8), until));
  const auto little = duration{limits::trial_first} / limits::trial_share / 2;
  x.held_up({peer(1)}, little, start); // It has nothing left.
  CHECK(x.out(peer(1), start + limits::trial_share * little - 1ms));
  CHECK_FALSE(x.out(peer(1), start + limits::trial_share * little));
}

TEST_CASE("a member is out for longer each time, and after a while anew") {
  auto x = after(60s);
  auto now = start;
  x.made({peer(8)}, 1s, now);
  duration wait = limits::trial_first;
  for (int times = 0; times < 6; ++times) {
    x.held_up({peer(8)}, 60s, now);
    CHECK(x.out(peer(8), now + wait - 1ms));
    CHECK_FALSE(x.out(peer(8), now + wait));
    now += wait;
    wait = std::min<duration>(limits::grace_growth * wait,
                              limits::trial_longest);
  }
  now += limits::trial_memory;
  auto all = members;
  all.insert(peer(8));
  x.made(all, 1s, now);
  x.held_up({peer(8)}, 60s, now);
  CHECK(x.out(peer(8), now));
  CHECK_FALSE(x.out(peer(8), now + limits::trial_first));
}

TEST_CASE("once too much was lost nobody new is let in for a while") {
  auto x = after(60s);
  x.held_up({peer(8)}, limits::trial_credit - 1s, start);
  CHECK_FALSE(x.out(peer(9), start));
  x.held_up({peer(7)}, 2s, start);
  CHECK(x.out(peer(9), start)); // It may be the same one under a new key.
  CHECK(out(x, members, start) == 0);
  auto open = start + limits::trial_first;
  CHECK(x.out(peer(9), open - 1ms));
  CHECK_FALSE(x.out(peer(9), open));
  // Little is left of the credit, and it was not the first time.
  x.held_up({peer(6)}, limits::trial_least, open);
  open += limits::grace_growth * limits::trial_first;
  CHECK(x.out(peer(9), open - 1ms));
  CHECK_FALSE(x.out(peer(9), open));
}

TEST_CASE("keys without number cost a part of the time") {
  auto x = after(60s);
  auto now = start;
  duration lost{0};
  std::uint8_t key = 100;
  for (; now < start + 1h; now += 1s) {
    if (x.out(peer(key), now))
      continue;
    x.held_up({peer(key)}, 4s, now);
    lost += 4s;
    key = key == 250 ? 100 : key + 1;
  }
  CHECK(lost < limits::trial_credit + duration{1h} / limits::trial_share + 4s);
  CHECK(lost > duration{1h} / limits::trial_share - 1min); // Each is tried.
}

TEST_CASE("who behaves in between costs no more than that") {
  auto x = after(60s);
  auto all = members;
  all.insert(peer(7));
  auto now = start;
  duration lost{0};
  for (bool behaves = true; now < start + 1h; now += 1s, behaves = !behaves) {
    if (x.out(peer(7), now)) {
      x.made(members, 1s, now);
    } else if (behaves) {
      x.made(all, 1s, now);
    } else {
      x.held_up({peer(7)}, 4s, now);
      lost += 4s;
    }
    CHECK(out(x, members, now) == 0);
  }
  CHECK(lost < limits::trial_credit + duration{1h} / limits::trial_share + 4s);
}

TEST_CASE("keys that bring nothing keep out nobody who has begun") {
  auto x = after(600s);
  auto all = members;
  all.insert(peer(8));
  x.made(all, 1s, start);
  x.held_up({peer(9)}, 2 * limits::trial_credit, start);
  CHECK(x.out(peer(10), start + 1s)); // Another new one.
  CHECK_FALSE(x.out(peer(8), start + 1s));
  SUBCASE("unless makers have cost as much") {
    x.held_up({peer(8)}, limits::trial_credit + 1s, start + 1s);
    all.insert(peer(7));
    x.made(all, 1s, start + 2s);
    CHECK(x.out(peer(7), start + 2s));
  }
}

TEST_CASE("several that hold the same group up cost it the time once") {
  auto x = after(60s);
  x.held_up({peer(6), peer(7), peer(8)}, limits::trial_credit / 2, start);
  CHECK_FALSE(x.out(peer(9), start));
}

TEST_CASE("as many newcomers as members put nobody out that was there before") {
  auto x = after(600s);
  auto all = members;
  for (std::uint8_t i = 7; i < 10; ++i)
    all.insert(peer(i));
  x.made(all, 1s, start);
  x.held_up({peer(7)}, 2 * limits::trial_credit, start);
  CHECK(out(x, members, start) == 0);
  CHECK(x.out(peer(8), start));
}

TEST_CASE("of two that made the last step neither goes on without the other") {
  for (std::size_t several : {2, 3, 4, 5}) {
    trials x;
    std::set<peer_id> all;
    for (std::uint8_t i = 0; i < several; ++i)
      all.insert(peer(i));
    x.made(all, 1s, start);
    std::size_t slow = 0;
    for (const auto& id : all) {
      x.held_up({id}, 1s, start);
      const auto lost = out(x, all, start);
      CHECK(lost == (2 * ++slow < several ? slow : 0));
    }
    CHECK_FALSE(x.out(peer(9), start)); // It is new.
    x.held_up({peer(9)}, 1s, start);
    CHECK(x.out(peer(9), start));
  }
}

TEST_CASE("one that stood still itself does not go on alone for it") {
  auto x = after(60s);
  const auto now = start + 20s;
  x.held_up({peer(2), peer(3)}, 20s, now); // As it seems to the first.
  x.made({peer(1)}, 1s, now);              // Before it knew better.
  CHECK(out(x, members, now) == 0);
  x.held_up({peer(8)}, 20s, now);
  CHECK(x.out(peer(8), now));
}

TEST_CASE("at the beginning only who holds up is out") {
  trials x;
  x.held_up({peer(1)}, limits::trial_credit, start);
  CHECK(x.out(peer(1), start));
  CHECK(out(x, members, start) == 1); // Nobody has earned anything.
}

TEST_CASE("a member that stood still for a moment stays in") {
  auto x = after(600s); // It has earned all that it can.
  x.held_up({peer(1)}, 4s, start);
  x.held_up({peer(9)}, limits::trial_credit, start);
  CHECK_FALSE(x.out(peer(1), start));
}

TEST_CASE("keys without number fill no memory") {
  auto x = after(60s);
  for (int i = 0; i < 3000; ++i) {
    auto id = peer(99);
    id.bytes[1] = static_cast<std::uint8_t>(i);
    id.bytes[2] = static_cast<std::uint8_t>(i / 256);
    x.held_up({id}, 1ms, start);
  }
  x.held_up({peer(99)}, 2 * limits::trial_credit, start);
  CHECK(out(x, members, start) == 0);
}
