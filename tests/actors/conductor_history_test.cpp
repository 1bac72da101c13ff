/// What a conductor gives its history up for, and what it does not.
#include <doctest/doctest.h>

#include "actors/conductor.hpp"
#include "runtime/history/own_history.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/step/finishing.hpp"
#include "tests/actors/conductor_stage.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t many_steps = 1000;

/// One of three that have made some steps together.
struct one_of_three : conductor_stage {
  explicit one_of_three(bool checkpoints = false)
      : conductor_stage(role::trainer, checkpoints, 0,
                        tiny_charter(many_steps, batch)) {
    for (auto i : {1, 2})
      join(i);
    hold(0);
    while (step < 2 * limits::binding_steps)
      step_together();
    world.run_for(limits::settling);
    hear_others();
  }
  void step_together() {
    ++step;
    group_formed formed;
    formed.contract.group.bytes[0] = static_cast<std::uint8_t>(step);
    tell(freeze_wanted{formed.contract.group});
    compute_all();
    formed.contract.step = step;
    formed.contract.gradient_values = tiny_trainer::values;
    for (auto i : {5, 1, 2}) {
      struct group_member x;
      x.who = contact_of(i);
      x.samples = batch / 3;
      formed.contract.members.push_back(x);
    }
    tell(formed);
    end_round(formed, true);
    hold(step, true);
    hear_others();
  }
  void hear_others() {
    for (auto i : {1, 2})
      hear(report(i, step));
  }
  progress_report forged(std::uint8_t number) {
    auto x = report(number, step + 3);
    x.history_samples += 1'000'000'000;
    x.state = digest_of("forged", 6);
    return x;
  }
  std::size_t fetches() {
    return state_keeper->count<fetch_state>();
  }

  std::uint64_t step = 0;
};

} // namespace

TEST_CASE("who trains with others neither follows strangers nor waits for "
          "them") {
  one_of_three x;
  for (std::uint8_t i = 10; i < 30; ++i) {
    x.join(i);
    x.hear(x.forged(i));
  }
  CHECK(x.fetches() == 0);
  x.step_together();
  CHECK(x.step == 2 * limits::binding_steps + 1);
  CHECK(x.compute->last<apply_mean>().step == x.step);
  CHECK(x.fetches() == 0);
  CHECK(x.facts().open);
}

TEST_CASE("nor one that trained with it, unless the others do") {
  one_of_three x;
  x.hear(x.forged(1));
  x.world.run_for(5s);
  x.hear(x.report(2, x.step));
  x.hear(x.forged(1));
  CHECK(x.fetches() == 0);
  x.hear(x.forged(2));
  REQUIRE(x.fetches() == 1);
  auto goal = x.state_keeper->last<fetch_state>().goal;
  CHECK(goal.donors == std::vector<peer_id>{peer(1), peer(2)});
  // What strangers say meanwhile is not passed on: they are no donors.
  auto told = x.state_keeper->count<report_heard>();
  x.join(10);
  x.hear(x.forged(10));
  CHECK(x.state_keeper->count<report_heard>() == told);
  x.hear(x.forged(2));
  CHECK(x.state_keeper->count<report_heard>() == told + 1);
}

TEST_CASE("strangers do not end a round") {
  one_of_three x;
  x.compute_all();
  group_formed formed;
  formed.contract.group.bytes[0] = 99;
  x.tell(freeze_wanted{formed.contract.group});
  formed.contract.step = x.step + 1;
  formed.contract.gradient_values = tiny_trainer::values;
  for (auto i : {5, 1, 2}) {
    struct group_member m;
    m.who = contact_of(i);
    m.samples = batch;
    formed.contract.members.push_back(m);
  }
  x.tell(formed);
  for (std::uint8_t i = 10; i < 30; ++i) {
    x.join(i);
    x.hear(x.forged(i));
  }
  x.world.run_for(5s);
  CHECK(x.averager->count<outcome_known>() == 0);
}

TEST_CASE("a newcomer makes no first step while others are ahead") {
  conductor_stage x;
  x.join(1);
  x.hold(0);
  x.hear(x.report(1, 2));
  REQUIRE(x.state_keeper->count<fetch_state>() == 1);
  x.tell(state_fetch_failed{"its line broke", true});
  x.compute_all();
  x.world.run_for(200ms); // Before the next try.
  CHECK(x.matchmaking->count<lead_group>() == 0);
  x.world.run_for(1s);
  CHECK(x.state_keeper->count<fetch_state>() == 2);
}

TEST_CASE("liars cost a newcomer no pause") {
  conductor_stage x;
  for (auto i : {1, 2})
    x.join(i);
  x.hold(0);
  auto lie = x.report(1, 2);
  lie.history_samples += 1000;
  x.hear(lie);
  x.hear(x.report(2, 2));
  REQUIRE(x.state_keeper->count<fetch_state>() == 1);
  CHECK(x.state_keeper->last<fetch_state>().goal.donors[0] == peer(1));
  x.world.run_for(5s);
  x.hear(x.report(2, 2));
  x.tell(donor_distrusted{peer(1), "it does not answer"});
  x.tell(state_fetch_failed{"nobody holds the state that was reported"});
  REQUIRE(x.state_keeper->count<fetch_state>() == 2);
  CHECK(x.state_keeper->last<fetch_state>().goal.donors[0] == peer(2));
}

TEST_CASE("no checkpoint is overwritten by what one peer gave") {
  one_of_three x{true};
  const auto saved = x.state_keeper->count<save_checkpoint_now>();
  CHECK(saved == x.step / 2);                             // Every second step.
  CHECK(x.state_keeper->count<may_be_saved>() >= x.step); // When it leaves.
  SUBCASE("by what the others have it is") {
    for (auto i : {1, 2}) {
      auto r = x.report(i, x.step + 10);
      x.hear(r);
    }
  }
  SUBCASE("nor a new one written") {
    conductor_stage y{role::trainer, true, 0, tiny_charter(many_steps, batch)};
    y.join(1);
    y.hold(0);
    const auto allowed = y.state_keeper->count<may_be_saved>();
    y.hear(y.report(1, 20));
    REQUIRE(y.state_keeper->count<fetch_state>() == 1);
    y.hold(20);
    state_fetched fetched;
    fetched.result.donor = peer(1);
    fetched.result.step = 20;
    y.tell(fetched);
    y.do_step(21);
    y.do_step(22);
    CHECK(y.state_keeper->count<save_checkpoint_now>() == 0);
    // Not when it leaves either.
    CHECK(y.state_keeper->count<may_be_saved>() == allowed);
    auto told = y.observer->events("fault");
    REQUIRE(!told.empty());
    CHECK(field<std::string>(told.back(), "what") == "checkpoint withheld");
    return;
  }
  REQUIRE(x.fetches() == 1);
  x.step += 10;
  x.hold(x.step);
  state_fetched fetched;
  fetched.result.step = x.step;
  x.tell(fetched);
  x.step_together();
  x.step_together();
  CHECK(x.state_keeper->count<save_checkpoint_now>() == saved + 1);
}

TEST_CASE("no run ends by what one peer gave") {
  conductor_stage x{role::trainer, true};
  x.join(1);
  x.hold(0);
  SUBCASE("it is not fetched") {
    x.hear(x.report(1, 3, phase::finished));
    CHECK(x.state_keeper->count<fetch_state>() == 0);
    x.join(2);
    x.hear(x.report(2, 3, phase::finished));
    CHECK(x.state_keeper->count<fetch_state>() == 1);
    return;
  }
  x.hear(x.report(1, 2));
  REQUIRE(x.state_keeper->count<fetch_state>() == 1);
  x.hear(x.report(1, 3, phase::finished));
  x.hold(2);
  x.hold(3);
  state_fetched fetched;
  fetched.result.donor = peer(1);
  fetched.result.step = 3;
  x.tell(fetched);
  CHECK(x.observer->events("finished").empty());
  SUBCASE("a second one vouches for it") {
    x.join(2);
    x.hear(x.report(2, 3, phase::finished));
    x.world.run_for(1s);
    CHECK(x.observer->events("finished").size() == 1);
    CHECK(x.state_keeper->count<save_checkpoint_now>() == 1);
  }
  SUBCASE("nobody does") {
    x.world.run_for(limits::end_patience + 1s);
    CHECK(x.observer->events("finished").empty());
    CHECK(x.state_keeper->count<save_checkpoint_now>() == 0);
    REQUIRE(x.observer->count<peer_over>() == 1);
    CHECK(x.observer->last<peer_over>().problem.find("One peer alone")
          != std::string::npos);
  }
}

TEST_CASE("the smaller part of a group waits before it goes on alone") {
  one_of_three x;
  for (auto i : {1, 2})
    x.tell(peer_left{peer(i), "connection reset", false});
  x.join(9); // So it is not alone.
  x.hear(x.report(9, x.step));
  auto led = x.matchmaking->count<lead_group>();
  x.compute_all();
  x.world.run_for(limits::parting_patience - 5s);
  x.hear(x.report(9, x.step));
  CHECK(x.matchmaking->count<lead_group>() == led);
  x.world.run_for(limits::parting_patience);
  x.hear(x.report(9, x.step));
  x.compute_all();
  x.world.run_for(1s);
  CHECK(x.matchmaking->count<lead_group>() > led);
}
