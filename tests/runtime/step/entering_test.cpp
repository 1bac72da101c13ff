#include <doctest/doctest.h>

#include "runtime/step/entering.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

constexpr duration patience = 2s;

progress_report joining(std::uint8_t number, std::uint64_t step = 3) {
  auto x = report(number, 0, step);
  x.phase = phase::joining;
  return x;
}

/// Has nothing of the run yet.
progress_report fetching(std::uint8_t number) {
  auto x = joining(number, 0);
  x.state = {};
  return x;
}

/// Peers 5 and the next ones.
group_contract group_of(std::uint8_t size) {
  group_contract x;
  for (std::uint8_t i = 0; i < size; ++i)
    x.members.push_back(
        {{peer(static_cast<std::uint8_t>(5 + i)), {}}, role::trainer});
  return x;
}

struct scene {
  void hear(progress_report x, duration after = {}) {
    others.joined(x.id, start + after);
    others.heard(x, start + after);
  }
  void part(std::uint8_t number, duration after) {
    others.left(peer(number));
    it.left(peer(number), start + after);
  }
  bool waits(duration after, bool alone = true, duration step = 1s) {
    return it.put_off({own, others, start + after, 4s}, alone, step, patience);
  }
  /// From then on, looking every tenth of a second. @return The time waited.
  duration waited(duration from, duration to, bool alone = true) {
    duration total{};
    for (auto at = from; at < to; at += 100ms)
      if (waits(at, alone))
        total += 100ms;
    return total;
  }

  /// The group of 30 makes a step; one member says so that much later.
  /// @return How long the next step was put off for it.
  duration steps(std::uint8_t late, duration by, duration pause = 4s) {
    it.made(peer(5), group_of(30), {});
    hear(report(late, 0, 99), at);
    const auto due = at;
    for (; at - due < by && waits(at, false); at += 100ms) {
    }
    const auto waited = at - due;
    hear(report(late, 0, 100), at);
    CHECK_FALSE(waits(at, false));
    at += pause;
    ++made;
    return waited;
  }
  /// What all that is late may cost so far.
  duration most_lost() const {
    return limits::entering_credit + at / limits::entering_share
           + made * limits::lagging_free;
  }

  duration at{};
  int made = 0;
  progress_report own = report(5, 64, 100);
  acquaintances others{peer(5), 64, false};
  entering it;
};

} // namespace

TEST_CASE("a peer without company waits for who fetches all of the state") {
  scene x;
  x.hear(fetching(6));
  CHECK(x.waits(0s));
  CHECK(x.waits(limits::entering_alone - 1s));
  SUBCASE("until it is there") {
    x.hear(report(6, 0, 100), 1s);
    CHECK_FALSE(x.waits(limits::entering_alone - 1s));
  }
  SUBCASE("not before it is level") {
    x.hear(report(6, 0, 99), 1s);
    CHECK(x.waits(limits::entering_alone - 1s));
  }
  SUBCASE("also when somebody else got in before") {
    CHECK(x.waits(limits::entering_alone - 1s, false));
    CHECK_FALSE(x.waits(limits::entering_alone, false));
  }
  SUBCASE("until it leaves") {
    x.part(6, 1s);
    CHECK_FALSE(x.waits(2s));
  }
  SUBCASE("until it has had its time, and not again at once") {
    CHECK_FALSE(x.waits(limits::entering_alone));
    const auto again = limits::entering_alone + limits::entering_again;
    CHECK_FALSE(x.waits(again - 1s));
    CHECK(x.waits(again));
    x.part(6, again + 1s);
    CHECK_FALSE(x.waits(again + 1s));
    x.hear(fetching(6), again + 2s); // It takes twice as long each time.
    CHECK_FALSE(x.waits(again + 2 * limits::entering_again));
    CHECK(x.waits(again + 2 * limits::entering_again + 1s));
  }
}

TEST_CASE("several that fetch from one peer have the time of all together") {
  scene x;
  x.hear(fetching(6));
  CHECK(x.waits(0s));
  x.hear(fetching(7), 1s);
  x.hear(fetching(8), 2s);
  CHECK(x.waits(2s));
  SUBCASE("while they are still several") {
    CHECK(x.waits(3 * limits::entering_alone - 1s));
    x.hear(report(6, 0, 100), 3 * limits::entering_alone - 1s);
    CHECK(x.waits(3 * limits::entering_alone - 1s));
  }
  SUBCASE("and no more than all may cost") {
    for (std::uint8_t i = 9; i < 14; ++i)
      x.hear(fetching(i), 2s);
    CHECK(x.waited(2s, 70s) <= limits::entering_credit_alone - 2s);
  }
}

TEST_CASE("a group waits only for who is about to be level with it") {
  scene x;
  SUBCASE("not for the download of a state") {
    x.hear(fetching(6));
    CHECK_FALSE(x.waits(0s, false));
  }
  SUBCASE("a few steps behind") {
    x.hear(joining(6, 100 - limits::entering_steps));
    CHECK(x.waits(0s, false));
    CHECK(x.waits(patience - 1ms, false));
    CHECK_FALSE(x.waits(patience, false));
  }
  SUBCASE("more of them where they are short") {
    x.hear(joining(6, 1));
    CHECK_FALSE(x.waits(0s, false, 50ms));
    CHECK(x.waits(0s, false, 1ms));
    CHECK(x.waits(1s, false, 50ms)); // This one takes longer, for it waits.
  }
  SUBCASE("nor for contributors and auxiliaries") {
    auto one = joining(6, 100);
    one.contributes = true;
    auto other = joining(7, 100);
    other.role = role::auxiliary;
    x.hear(one);
    x.hear(other);
    CHECK_FALSE(x.waits(0s, false));
    CHECK_FALSE(x.waits(0s));
  }
}

TEST_CASE("a trainer that has just connected may say where it stands") {
  scene x;
  x.it.joined(peer(6));
  CHECK_FALSE(x.waits(0s, false));
  CHECK(x.waits(1s));
  SUBCASE("that it is not entering") {
    x.it.heard(peer(6));
    x.hear(report(6, 0, 100));
    CHECK_FALSE(x.waits(2s));
  }
  SUBCASE("that it is: then it has its time from the beginning on") {
    x.it.heard(peer(6));
    x.hear(fetching(6));
    CHECK(x.waits(2s));
    CHECK_FALSE(x.waits(1s + limits::entering_alone));
  }
  SUBCASE("or nothing") {
    CHECK_FALSE(x.waits(1s + limits::entering_alone));
  }
}

TEST_CASE("who made the last step is waited for until it says so") {
  scene x;
  const auto last = group_of(4);
  x.it.made(peer(5), last, {3}); // Peer 8 was left out.
  x.hear(report(6, 0, 99));
  x.hear(report(7, 0, 100));
  x.hear(report(8, 0, 99));
  CHECK(x.waits(0s, false));
  CHECK(x.it.puts_off());
  SUBCASE("and no longer") {
    x.hear(report(6, 0, 100), 1s);
    CHECK_FALSE(x.waits(1s, false));
  }
  SUBCASE("for two seconds") {
    CHECK(x.waits(1999ms, false));
    CHECK_FALSE(x.waits(2s, false));
    CHECK_FALSE(x.waits(20s, false));
  }
  SUBCASE("unless it is gone") {
    x.part(6, 1s);
    CHECK_FALSE(x.waits(1s, false));
  }
  SUBCASE("which costs newcomers no room") {
    for (int step = 0; step < 60; ++step) {
      x.it.made(peer(5), last, {3});
      x.hear(report(6, 0, 99), step * 1s);
      CHECK(x.waits(step * 1s, false));
      x.hear(report(6, 0, 100), step * 1s + 400ms);
      CHECK_FALSE(x.waits(step * 1s + 400ms, false));
    }
    x.hear(fetching(9), 61s);
    CHECK(x.waits(61s));
    CHECK(x.waits(75s));
  }
}

TEST_CASE("who is a little late is waited for at every step") {
  scene x;
  while (x.at < 10min)
    CHECK(x.steps(6, limits::lagging_free, 100ms) == limits::lagging_free);
}

TEST_CASE("a laggard that never comes costs its time once, and its doublings") {
  scene x;
  CHECK(x.steps(6, 1h) == limits::entering_with_others);
  while (x.at < limits::entering_again)
    CHECK(x.steps(6, 1h) == 0s);
  CHECK(x.steps(7, 1s) == 1s); // The others are waited for.
  CHECK(x.steps(6, 1h) == limits::entering_with_others);
  const auto then = x.at;
  while (x.at < then + limits::entering_again)
    CHECK(x.steps(6, 1h) == 0s);
  SUBCASE("which are forgotten when it has come for as long") {
    while (x.at < then + 10 * limits::entering_again)
      CHECK(x.steps(6, 400ms) <= 400ms);
    CHECK(x.steps(6, 1h) == limits::entering_with_others);
    x.at += limits::entering_again;
    CHECK(x.steps(6, 1h) == limits::entering_with_others);
  }
  SUBCASE("and it may enter as any") {
    x.hear(joining(6, 99), x.at);
    CHECK(x.waits(x.at, false));
  }
}

TEST_CASE("laggards that take turns, or come just in time, cost a tenth of the "
          "time and half a second a step") {
  const auto by = {duration{1h}, duration{1900ms}};
  for (const auto late : by) {
    scene x;
    duration total{};
    while (x.at < 20min)
      total += x.steps(static_cast<std::uint8_t>(6 + x.made % 29), late);
    CHECK(total > limits::entering_credit);
    CHECK(total < x.most_lost());
  }
  scene x;
  duration total{};
  while (x.at < 20min)
    total += x.steps(6, 1900ms);
  CHECK(total < x.most_lost());
  CHECK(x.steps(7, 1h) >= limits::lagging_free);
}

TEST_CASE("many that only say to enter cost a tenth of the time") {
  const auto most
      = limits::entering_credit_alone + 600s / limits::entering_share + 1s;
  SUBCASE("each under many names") {
    scene x;
    duration total{};
    std::uint8_t number = 6;
    for (duration at{}; at < 600s; at += 3s, ++number) {
      x.part(number, at);
      x.hear(fetching(static_cast<std::uint8_t>(number + 1)), at);
      total += x.waited(at, at + 3s);
    }
    CHECK(total > limits::entering_credit);
    CHECK(total < most);
  }
  SUBCASE("who comes and goes") {
    scene x;
    duration total{};
    for (duration at{}; at < 600s; at += 5s) {
      x.hear(fetching(6), at);
      total += x.waited(at, at + 4s);
      x.hear(report(6, 0, 100), at + 4s);
      total += x.waited(at + 4s, at + 5s);
    }
    CHECK(total > limits::entering_credit);
    CHECK(total < most);
  }
}

TEST_CASE("one that never gets in costs its time once, and its doublings") {
  scene x;
  x.hear(fetching(6));
  CHECK(x.waited(0s, 75s) == limits::entering_alone);
  scene y; // The same behind another address.
  for (duration at{}; at < 60s; at += 2s) {
    y.hear(fetching(6), at);
    y.waited(at, at + 1s);
    y.part(6, at + 1s);
  }
  y.hear(fetching(6), 60s);
  CHECK_FALSE(y.waits(60s));
  CHECK(y.waits(61s));
}

TEST_CASE("room that a crowd has used up comes back for others") {
  scene x;
  x.hear(fetching(6));
  x.waited(0s, 15s);
  for (std::uint8_t i = 7; i < 12; ++i)
    x.hear(fetching(i), 15s);
  CHECK(x.waited(15s, 80s) < 47s); // What was left.
  x.hear(joining(12, 100), 300s);
  CHECK(x.waits(300s, false));
}
