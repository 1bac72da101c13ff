#include <doctest/doctest.h>

#include "runtime/step/step_pace.hpp"
#include "tests/actors/conductor_stage.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

charter delayed_charter() {
  auto s = tiny_charter(steps, batch).settings();
  s.updates = "delayed";
  return {s, ""};
}

struct delayed_stage : conductor_stage {
  delayed_stage()
      : conductor_stage(role::trainer, false, 0, delayed_charter()) {
  }
  std::uint64_t asked() const {
    std::uint64_t sum = 0;
    for (auto& x : compute->all<compute_batch>())
      sum += x.request.samples;
    return sum;
  }
};

} // namespace

TEST_CASE("with delayed updates the target batch is set aside once it is there,"
          " and computing goes on") {
  delayed_stage x;
  x.hold(0);
  while (x.compute->count<set_gradient_aside>() == 0)
    REQUIRE(x.compute_one());
  CHECK(x.matchmaking->count<lead_group>() == 1);
  CHECK(x.roster->last<own_report>().report.samples == batch);
  CHECK(x.asked() > batch);
  // The group gets what was set aside, at once, though a batch runs.
  auto formed = x.form(1);
  CHECK(formed.contract.members[0].samples == batch);
  CHECK(formed.contract.members[0].loss_sum == doctest::Approx(2.0 * batch));
  CHECK(x.compute->last<lend_gradient>().aside);
  CHECK(x.compute->count<set_gradient_aside>() == 1);
}

TEST_CASE("as many samples are computed ahead as the step has, and no more") {
  delayed_stage x;
  x.hold(0);
  x.compute_all();
  CHECK(x.asked() == 2 * batch);
  auto formed = x.form(1);
  x.compute_all();
  x.world.run_for(1s);
  CHECK(x.asked() == 2 * batch);
  // No sample is drawn twice.
  std::uint64_t next = 0;
  for (auto& asked : x.compute->all<compute_batch>()) {
    CHECK(asked.request.first_sample == next);
    next += asked.request.samples;
  }
}

TEST_CASE("a mean is applied beside batches, and the newer samples count for "
          "the next step") {
  delayed_stage x;
  x.hold(0);
  while (x.compute->count<set_gradient_aside>() == 0)
    REQUIRE(x.compute_one());
  auto formed = x.form(1);
  REQUIRE(x.compute_one());
  auto ahead = x.asked() - batch; // One of them runs.
  x.end_round(formed, true);
  CHECK(x.compute->last<apply_mean>().beside);
  auto running = x.compute->last<compute_batch>().request.samples;
  x.hold(1, true);
  CHECK(x.compute->last<drop_gradient>().only_aside);
  CHECK(x.roster->last<own_report>().report.step == 1);
  CHECK(x.roster->last<own_report>().report.samples == ahead - running);
  // The batch that was under way meanwhile counts as well.
  REQUIRE(x.compute_one());
  CHECK(x.roster->last<own_report>().report.samples == ahead);
}

TEST_CASE("when a round or a group comes to nothing, newer samples join the "
          "step's") {
  delayed_stage x;
  x.hold(0);
  x.compute_all();
  bool round = false;
  SUBCASE("a group") {
    group_id group;
    group.bytes[0] = 1;
    x.tell(freeze_wanted{group});
    x.tell(group_dissolved{group, "the leader left"});
  }
  SUBCASE("a round") {
    auto formed = x.form(1);
    x.end_round(formed, false);
    round = true;
  }
  REQUIRE(x.compute->count<take_gradient_back>() == 1);
  CHECK(x.compute->last<take_gradient_back>().with_newer);
  CHECK(x.compute->count<apply_mean>() == 0);
  CHECK(x.roster->last<own_report>().report.samples == 2 * batch);
  if (!round)
    return; // It goes on, since the others may have had less than they said.
  x.compute_all();
  x.world.run_for(1s);
  // Two target batches are enough to have in hand.
  auto formed = x.form(1);
  auto had = x.asked();
  CHECK(formed.contract.members[0].samples == had);
  x.compute_all();
  x.world.run_for(1s);
  CHECK(x.asked() == had);
}

TEST_CASE("when somebody leaves with samples that were counted on, the step is "
          "taken up again") {
  delayed_stage x;
  x.join(2);
  x.hold(0);
  auto theirs = x.report(2, 0);
  theirs.samples = batch / 2;
  x.hear(theirs);
  while (x.compute->count<set_gradient_aside>() == 0)
    REQUIRE(x.compute_one());
  CHECK(x.matchmaking->count<lead_group>() == 0); // The other one leads.
  x.tell(peer_left{peer(2), "gone", false});
  x.world.run_for(limits::conductor_interval + 1ms);
  CHECK(x.compute->count<take_gradient_back>() == 1);
  x.compute_all();
  CHECK(x.matchmaking->count<lead_group>() == 0); // It may be back.
  x.world.run_for(limits::reunion_patience);
  CHECK(x.matchmaking->count<lead_group>() == 1);
}

TEST_CASE("who is behind fetches without anything set aside") {
  delayed_stage x;
  x.join(2);
  x.hold(0);
  x.hear(x.report(2, 0)); // It would lead.
  x.compute_all();
  REQUIRE(x.compute->count<set_gradient_aside>() == 1);
  x.hear(x.report(2, 2));
  REQUIRE(x.state_keeper->count<fetch_state>() == 1);
  CHECK(x.compute->count<take_gradient_back>() == 1);
  x.hold(2);
  state_fetched fetched;
  fetched.result.donor = peer(2);
  fetched.result.step = 2;
  x.tell(fetched);
  CHECK(x.roster->last<own_report>().report.samples == 0);
}

TEST_CASE("for the last step nothing is computed ahead") {
  delayed_stage x;
  x.hold(steps - 1);
  x.compute_all();
  CHECK(x.asked() == batch);
}

// A conductor was restarted while its predecessor's mean was being applied.
TEST_CASE("a step made for a predecessor drops what nobody can place") {
  delayed_stage x;
  x.hold(0);
  REQUIRE(x.compute_one());
  auto before = x.roster->last<own_report>().report.samples;
  REQUIRE(before > 0);
  x.hold(1, true);
  CHECK(x.compute->count<drop_gradient>() == 2); // One at the start.
  CHECK_FALSE(x.compute->last<drop_gradient>().only_aside);
  CHECK(x.roster->last<own_report>().report.samples == 0);
  // The batch that ran has gone into the gradient that was dropped.
  REQUIRE(x.compute_one());
  CHECK(x.roster->last<own_report>().report.samples == 0);
}
