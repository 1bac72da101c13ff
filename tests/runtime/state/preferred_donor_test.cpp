/// The first contributor of a chain: its sponsor, a donor like others, is whom
/// it asks for the mean, so that every sponsor's uplink serves its own cell.
#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <set>

#include "runtime/state/limits.hpp"
#include "tests/runtime/state/steps.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t values = 200'000; ///< 49 pieces.
constexpr std::size_t pieces = 49;

/// Members that have made a step, and somebody who missed it. Letters arrive
/// at once.
struct members {
  explicit members(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      donors.emplace_back(usual_donor());
    auto before = state_of(values, 10);
    auto mean = some_mean(values, 1);
    auto after = before;
    lay_on(after, *mean);
    for (auto& x : donors) {
      x.holds(after.step, after.recent.front(), now);
      x.passed({after.step, 64, after.history_samples, before.recent.front(),
                after.recent.front(), mean},
               now);
    }
    goal.step = after.step;
    goal.state = after.recent.front();
    goal.own_step = before.step;
    goal.own_state = before.recent.front();
    goal.values = values;
    for (std::size_t i = 0; i < count; ++i)
      goal.donors.push_back(id_of(i));
    goal.relay = id_of(0);
  }

  /// Until nobody has anything to say. @param mute The first one.
  void exchange(bool mute = false) {
    for (bool busy = true; busy;) {
      busy = false;
      for (auto& x : joiner.take_letters()) {
        busy = true;
        auto& to = donors.at(x.to.bytes[0] - 1u);
        if (auto wish = std::get_if<state_request>(&x.content)) {
          if (asked.insert(x.to).second && !wish->lists_only)
            ++wanted_pieces;
          to.read(id_of(99), *wish, now);
        }
        if (auto wish = std::get_if<piece_request>(&x.content))
          to.read(id_of(99), *wish, now);
      }
      for (std::size_t i = 0; i < donors.size(); ++i)
        for (auto& x : donors[i].take_letters()) {
          busy = true;
          if (mute && i == 0)
            continue;
          if (auto list = std::get_if<state_manifest>(&x.content))
            joiner.read(id_of(i), *list, now);
          if (auto piece = std::get_if<state_piece>(&x.content)) {
            sent[i] += x.body.size > 0;
            joiner.read(id_of(i), *piece, x.body, now);
          }
        }
    }
  }
  void wait(bool mute = false) {
    for (auto end = now + 10s; now < end && !fetched();
         now += limits::fetch_interval) {
      joiner.look(now);
      exchange(mute);
    }
  }
  bool fetched() {
    got = got || joiner.take_one<mean_job>().has_value();
    return got;
  }

  time_point now{1s};
  std::deque<waiting_donor> donors;
  waiting_joiner joiner{id_of(99), usual_joiner()};
  fetch_goal goal;
  std::set<peer_id> asked;       ///< For anything.
  std::size_t wanted_pieces = 0; ///< Of how many, with the first request.
  std::array<std::size_t, 16> sent{};
  bool got = false;
};

} // namespace

TEST_CASE(
    "one donor sends the mean, and a few others say whether it is right") {
  members x{12};
  x.joiner.begin(x.goal, x.now);
  x.exchange();
  CHECK(x.fetched());
  CHECK(x.asked.size() == 1 + limits::lists_wanted);
  CHECK(x.wanted_pieces == 1);
  CHECK(x.sent[0] == pieces);
}

TEST_CASE("a donor that is the only one is as good as any") {
  members x{1};
  x.joiner.begin(x.goal, x.now);
  x.wait();
  CHECK(x.fetched());
  CHECK(x.sent[0] == pieces);
}

TEST_CASE("others may report later than the preferred donor") {
  members x{12};
  auto others = x.goal.donors;
  x.goal.donors = {id_of(0)};
  x.joiner.begin(x.goal, x.now);
  x.exchange();
  CHECK_FALSE(x.fetched());
  for (auto& id : others)
    x.joiner.heard(id, x.goal.step, x.goal.state, x.now);
  x.exchange();
  CHECK(x.fetched());
  CHECK(x.sent[0] == pieces);
}

TEST_CASE("a preferred donor that does not send costs a moment") {
  members x{12};
  x.joiner.begin(x.goal, x.now);
  x.wait(true);
  CHECK(x.fetched());
  CHECK(x.sent[0] == 0);
  // All the usual ones are asked then.
  CHECK(x.asked.size() > 1 + limits::lists_wanted);
}
