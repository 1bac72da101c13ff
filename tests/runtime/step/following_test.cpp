#include "runtime/step/following.hpp"

#include <set>

#include <doctest/doctest.h>

#include "tests/runtime/step/step_peers.hpp"
#include "tests/runtime/step/told_actions.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

step_settings settings(bool awaits_roots = false) {
  run_settings run;
  run.steps = 20;
  run.target_batch = 32;
  step_settings x;
  x.self = peer(5);
  x.agreed = charter{run, ""};
  x.writes_checkpoints = true;
  x.awaits_roots = awaits_roots;
  return x;
}

/// Peer 5, which accumulates for the step after `step`.
struct follower : following {
  explicit follower(std::uint64_t step, const step_settings& how = settings())
      : following(how, start) {
    holds(step);
    go(cause::state_shown);
    history().holds(own().step, own().state);
    take();
  }
  using following::awaits_roots;
  using following::better;
  using following::catch_up_if_behind;
  using following::fetched;
  using following::history;
  using following::holds_off;
  using following::in;
  using following::know_roots;
  using following::look_at_roots;
  using following::save_checkpoint;
  using following::set_time;
  using following::take;
  using following::waits_for_others;

  void holds(std::uint64_t step) {
    state_changed x;
    x.step = step;
    x.history_samples = 100 * step;
    x.state = step == 0 ? state(50) : state(static_cast<std::uint8_t>(step));
    x.gradient_values = 10;
    hold(x);
  }
  /// It is connected, and reports that.
  void hears(progress_report x) {
    x.charter = own().charter;
    peer_joined joined;
    joined.who.id = x.id;
    joined.charter = x.charter;
    add(others().joined(joined, own().step, now()));
    others().heard(x, own(), now());
    take();
  }
  template <class Action>
  std::vector<Action> told() {
    return those_of<Action>(take());
  }
};

} // namespace

TEST_CASE("who is behind fetches, once, from all that hold what counts more") {
  follower x{3};
  x.catch_up_if_behind(1s);
  CHECK(x.in() == stage::accumulating);
  x.hears(report(1, 0, 7));
  x.hears(report(2, 0, 7));
  x.hears(report(4, 0, 2));          // Is behind itself.
  CHECK_FALSE(x.waits_for_others()); // It has a history of its own.
  x.catch_up_if_behind(1s);
  CHECK(x.in() == stage::fetching);
  auto orders = x.told<fetch_state>();
  REQUIRE(orders.size() == 1);
  CHECK(orders[0].goal.step == 7);
  const auto& donors = orders[0].goal.donors;
  CHECK(std::set<peer_id>(donors.begin(), donors.end())
        == std::set<peer_id>{peer(1), peer(2)});
  x.catch_up_if_behind(1s);
  CHECK(x.told<fetch_state>().empty());
}

TEST_CASE("a newcomer makes no step beside others that have made some") {
  follower x{0};
  CHECK_FALSE(x.waits_for_others());
  x.hears(report(1, 0, 7));
  CHECK(x.waits_for_others());
}

TEST_CASE("a newcomer hears first by whom to go") {
  follower x{0, settings(true)};
  x.look_at_roots();
  CHECK(x.holds_off());
  x.hears(report(1, 0, 7));
  x.hears(report(2, 0, 7));
  CHECK(x.better().donors.empty());
  SUBCASE("and follows whom it likes when nobody tells") {
    x.set_time(start + limits::roots_patience);
    x.look_at_roots();
    CHECK_FALSE(x.holds_off());
    CHECK(x.better().donors.size() == 2);
  }
  SUBCASE("and follows those alone when somebody does") {
    x.know_roots(roots_known{{{peer(2), 1}}});
    CHECK_FALSE(x.awaits_roots());
    CHECK(x.holds_off());
    REQUIRE(x.better().donors.size() == 1);
    CHECK(x.better().donors[0].id == peer(2));
  }
}

TEST_CASE("no run ends by one peer's word") {
  follower x{3};
  x.hears(report(1, 0, 20));
  CHECK(x.better().donors.empty());
  x.hears(report(2, 0, 20));
  CHECK(x.better().donors.size() == 2);
}

TEST_CASE("a state that one peer alone gave overwrites no checkpoint") {
  const auto saves_with = [](std::uint8_t donors) {
    follower x{3};
    for (std::uint8_t i = 1; i <= donors; ++i)
      x.hears(report(i, 0, 7));
    x.catch_up_if_behind(1s);
    REQUIRE(x.in() == stage::fetching);
    x.holds(7);
    state_fetched whole;
    whole.result.whole_state = true;
    CHECK(x.fetched(whole));
    x.take();
    x.save_checkpoint();
    return !x.told<save_checkpoint_now>().empty();
  };
  CHECK_FALSE(saves_with(1));
  CHECK(saves_with(2));
}
