#include "actors/conductor.hpp"

#include <doctest/doctest.h>

#include "runtime/config.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/progress/acquaintances.hpp"
#include "runtime/step/catching_up.hpp"
#include "runtime/step/finishing.hpp"
#include "runtime/step/leading.hpp"
#include "runtime/ways/cells/contributor_pace.hpp"
#include "tests/actors/conductor_stage.hpp"

using namespace potluck;
using namespace std::chrono_literals;

TEST_CASE("nothing is computed before there is a state") {
  conductor_stage x;
  x.world.run_for(1s);
  CHECK(x.compute->count<compute_batch>() == 0);
  CHECK_FALSE(x.facts().open);
  x.hold(0);
  CHECK(x.compute->count<compute_batch>() == 1);
  CHECK(x.facts().open);
}

TEST_CASE("a peer alone accumulates the target batch and leads") {
  conductor_stage x;
  x.hold(0);
  x.compute_all();
  CHECK(x.matchmaking->count<lead_group>() == 1);
  CHECK(x.matchmaking->last<lead_group>().invitees.empty());
  std::uint64_t samples = 0;
  for (auto& asked : x.compute->all<compute_batch>()) {
    CHECK(asked.step == 0);
    CHECK(asked.request.first_sample == samples);
    CHECK(asked.request.samples <= 16);
    samples += asked.request.samples;
  }
  CHECK(samples == batch);
  // It leads once, and does not compute beyond the batch.
  x.world.run_for(1s);
  CHECK(x.matchmaking->count<lead_group>() == 1);
}

TEST_CASE("a step goes from samples to an applied mean, and the run ends") {
  conductor_stage x;
  x.hold(0);
  x.compute_all();
  auto formed = x.form(1);
  CHECK(formed.contract.members[0].samples == batch);
  CHECK(x.averager->count<begin_round>() == 1);
  REQUIRE(x.compute->count<lend_gradient>() == 1);
  CHECK(x.compute->last<lend_gradient>().round == formed.contract.group);
  CHECK_FALSE(x.facts().open);
  x.end_round(formed, true);
  REQUIRE(x.compute->count<apply_mean>() == 1);
  CHECK(x.compute->last<apply_mean>().step == 1);
  CHECK(x.compute->last<apply_mean>().samples == batch);
  x.hold(1, true);
  CHECK(x.facts().step == 1);
  CHECK(x.facts().open);
  auto told = x.observer->events("step");
  REQUIRE(told.size() == 1);
  CHECK(field<std::uint64_t>(told[0], "step") == 1);
  CHECK(field<double>(told[0], "loss") == doctest::Approx(2));
  CHECK(field<std::string>(told[0], "digest") == to_string(state_after(1)));
  CHECK(x.observer->count<peer_over>() == 0);
  x.do_step(2);
  x.do_step(3);
  CHECK(x.observer->events("finished").size() == 1);
  REQUIRE(x.observer->count<peer_over>() == 1);
  CHECK(x.observer->last<peer_over>().problem.empty());
  auto batches = x.compute->count<compute_batch>();
  x.world.run_for(1s);
  CHECK(x.compute->count<compute_batch>() == batches);
}

TEST_CASE("who is not the leader waits to be invited") {
  conductor_stage x;
  x.join(2);
  x.hold(0);
  x.hear(x.report(2, 0));
  x.compute_all();
  x.world.run_for(1s);
  CHECK(x.matchmaking->count<lead_group>() == 0);
}

// liars.json, seed 10: all waited for one that waited for a peer they doubted.
TEST_CASE("a leader that lets its turn pass is passed over") {
  conductor_stage x;
  x.join(1);
  x.join(2);
  x.hold(0);
  x.hear(x.report(1, 0));
  x.hear(x.report(2, 0));
  x.compute_all();
  auto wait = [&](duration how_long) {
    for (auto waited = duration{0}; waited < how_long; waited += 1s) {
      x.hear(x.report(1, 0));
      x.hear(x.report(2, 0));
      x.world.run_for(1s);
    }
  };
  auto turn = limits::leaders_turn * duration{limits::first_round_patience};
  wait(2 * turn - 1s); // Two are before it.
  CHECK(x.matchmaking->count<lead_group>() == 0);
  wait(2s);
  REQUIRE(x.matchmaking->count<lead_group>() == 1);
  CHECK(x.matchmaking->last<lead_group>().invitees.size() == 2);
}

TEST_CASE("a leader names whom it does not invite because of what others say") {
  conductor_stage x;
  for (auto i : {6, 7, 8, 9}) {
    x.join(i);
    x.hear(x.report(i, 0));
  }
  x.hold(0);
  x.tell(members_doubted{{peer(7), peer(8)}, "two contradict each other"});
  x.tell(members_doubted{{peer(9)}, "banned", 1min}); // Leads nobody here.
  // Nor does an auxiliary, ever.
  x.join(10);
  auto helper = x.report(10, 0);
  helper.role = role::auxiliary;
  x.hear(helper);
  x.tell(members_doubted{{peer(10)}, "it did not answer an invitation"});
  x.tell(peer_left{peer(8), "gone", false});
  x.hear(x.report(6, 0));
  x.hear(x.report(7, 0));
  x.compute_all();
  REQUIRE(x.matchmaking->count<lead_group>() == 1);
  auto order = x.matchmaking->last<lead_group>();
  REQUIRE(order.invitees.size() == 1);
  CHECK(order.invitees[0] == contact_of(6));
  CHECK(order.shunned == std::vector<peer_id>{peer(7)});
}

TEST_CASE("the leader invites companions and helpers") {
  conductor_stage x;
  x.join(6);
  x.join(7);
  x.join(8);
  x.hold(0);
  x.hear(x.report(6, 0));
  auto helper = x.report(7, 0);
  helper.role = role::auxiliary;
  x.hear(helper);
  auto loading = x.report(8, 0, phase::joining); // Cannot average yet.
  loading.state = {};
  x.hear(loading);
  x.compute_all();
  REQUIRE(x.matchmaking->count<lead_group>() == 1);
  auto order = x.matchmaking->last<lead_group>();
  REQUIRE(order.invitees.size() == 2);
  CHECK(order.invitees[0] == contact_of(6));
  CHECK(order.roles[0] == role::trainer);
  CHECK(order.invitees[1] == contact_of(7));
  CHECK(order.roles[1] == role::auxiliary);
  CHECK(order.answer_patience > 0ms);
  CHECK(order.round_patience > 0ms);
}

TEST_CASE("who makes the step alone asks no helper") {
  conductor_stage x;
  x.join(7);
  x.hold(0);
  auto helper = x.report(7, 0);
  helper.role = role::auxiliary;
  x.hear(helper);
  x.compute_all();
  REQUIRE(x.matchmaking->count<lead_group>() == 1);
  CHECK(x.matchmaking->last<lead_group>().invitees.empty());
}

TEST_CASE("a peer only heard of is waited for, but not for long") {
  conductor_stage x;
  x.hold(0);
  x.hear(x.report(9, 0), false);
  x.compute_all();
  x.world.run_for(limits::connecting_patience - 500ms);
  CHECK(x.matchmaking->count<lead_group>() == 0);
  x.world.run_for(1s);
  CHECK(x.matchmaking->count<lead_group>() == 1);
}

TEST_CASE("a freeze waits for the batch under way") {
  conductor_stage x;
  x.hold(0);
  REQUIRE(x.compute->count<compute_batch>() == 1);
  group_id group;
  group.bytes[0] = 1;
  x.tell(freeze_wanted{group});
  CHECK(x.matchmaking->count<gradient_frozen>() == 0);
  x.compute_one();
  REQUIRE(x.matchmaking->count<gradient_frozen>() == 1);
  auto asked = x.compute->last<compute_batch>().request.samples;
  CHECK(x.matchmaking->last<gradient_frozen>().samples == asked);
  // And nothing more is computed.
  x.world.run_for(1s);
  CHECK(x.compute->count<compute_batch>() == 1);
}

TEST_CASE("a group that dissolves or a round that aborts keeps the samples") {
  conductor_stage x;
  x.hold(0);
  x.compute_all();
  auto batches = x.compute->count<compute_batch>();
  SUBCASE("dissolved") {
    ++batches; // The others had less than was expected: it goes on.
    group_id group;
    group.bytes[0] = 1;
    x.tell(freeze_wanted{group});
    x.tell(group_dissolved{group, "the leader left"});
  }
  SUBCASE("aborted") {
    auto formed = x.form(1);
    x.end_round(formed, false);
  }
  CHECK(x.compute->count<drop_gradient>() == 1); // At the start only.
  CHECK(x.compute->count<apply_mean>() == 0);
  x.world.run_for(1s);
  CHECK(x.compute->count<compute_batch>() == batches);
  CHECK(x.matchmaking->count<lead_group>() == 2);
  auto formed = x.form(1);
  CHECK(formed.contract.members[0].samples == batch);
}

// chains.json, seed 1: a gathering that outlived its group let the next one but
// one begin another, whose samples were in the gradient and not in the
// contract.
TEST_CASE("a sponsor adds nothing to what it has told, whichever group asks") {
  conductor_stage x;
  auto cell = x.pretend_cell();
  x.hold(0);
  x.join(7);
  auto contributor = x.report(7, 0);
  contributor.contributes = true;
  contributor.sponsor = peer(5);
  contributor.samples = 10;
  x.hear(contributor);
  auto freeze = [&](std::uint8_t number) {
    group_id group;
    group.bytes[0] = number;
    x.tell(freeze_wanted{group});
    x.compute_all();
    return group;
  };
  auto first = freeze(1);
  REQUIRE(cell->count<gather_contributions>() == 1);
  x.tell(group_dissolved{first, "the leader left"});
  freeze(2);
  CHECK(x.matchmaking->count<gradient_frozen>() == 0); // It gathers.
  x.tell(gathering_over{0});
  REQUIRE(x.matchmaking->count<gradient_frozen>() == 1);
  auto told = x.matchmaking->last<gradient_frozen>();
  auto third = freeze(3);
  CHECK(cell->count<gather_contributions>() == 1);
  REQUIRE(x.matchmaking->count<gradient_frozen>() == 2);
  CHECK(x.matchmaking->last<gradient_frozen>().group == third);
  CHECK(x.matchmaking->last<gradient_frozen>().samples == told.samples);
  contribution late;
  late.from = peer(7);
  late.samples = 10;
  x.tell(contribution_ready{std::make_shared<const contribution>(late)});
  REQUIRE(cell->count<contribution_taken>() == 1);
  CHECK_FALSE(cell->last<contribution_taken>().accepted);
}

TEST_CASE("contributors that all claim much do not make their sponsor a liar") {
  conductor_stage x;
  auto cell = x.pretend_cell();
  x.hold(0);
  std::size_t taken = 0;
  for (std::uint8_t i = 10; i < 30; ++i) {
    contribution claimed;
    claimed.from = peer(i);
    claimed.samples = batch;
    claimed.gradient.resize(16);
    x.tell(contribution_ready{
        std::make_shared<const contribution>(std::move(claimed))});
    taken += cell->last<contribution_taken>().accepted;
  }
  CHECK(cell->count<contribution_taken>() == 20);
  CHECK(taken > 0);
  CHECK(taken <= 2); // A leader believes two batches of one.
}

TEST_CASE("who is behind fetches, and tries the next donor") {
  conductor_stage x;
  x.join(6);
  x.join(7);
  x.hold(0);
  x.hear(x.report(6, 2));
  REQUIRE(x.state_keeper->count<fetch_state>() == 1);
  auto first = x.state_keeper->last<fetch_state>();
  CHECK(first.goal.donors == std::vector<peer_id>{peer(6)});
  CHECK(first.goal.step == 2);
  CHECK(first.goal.own_state == state_after(0));
  CHECK_FALSE(x.facts().open);
  x.hear(x.report(7, 2));
  CHECK(x.state_keeper->count<fetch_state>() == 1);
  // What is heard meanwhile is the state keeper's to judge.
  CHECK(x.state_keeper->last<report_heard>().report.id == peer(7));
  x.tell(donor_distrusted{peer(6), "it sent nonsense"});
  x.tell(state_fetch_failed{"nobody serves that version any more"});
  x.world.run_for(limits::fetch_backoff + 200ms);
  REQUIRE(x.state_keeper->count<fetch_state>() == 2);
  CHECK(x.state_keeper->last<fetch_state>().goal.donors
        == std::vector<peer_id>{peer(7)});
  x.hold(1);
  CHECK_FALSE(x.facts().open); // A mean is still to come.
  x.hold(2);
  CHECK_FALSE(x.facts().open);
  state_fetched fetched;
  fetched.result.donor = peer(7);
  fetched.result.step = 2;
  fetched.result.means = 1;
  x.tell(fetched);
  CHECK(x.facts().step == 2);
  CHECK(x.facts().open);
  CHECK(x.observer->events("state_download").size() == 1);
  CHECK(x.observer->events("fault").size() == 2);
  // Not a step of its own.
  CHECK(x.observer->events("step").empty());
  x.world.run_for(1s);
  CHECK(x.state_keeper->count<fetch_state>() == 2);
}

TEST_CASE("a download that fails on the way counts as far as it came") {
  conductor_stage x;
  x.join(6);
  x.hold(0);
  x.hear(x.report(6, 2));
  REQUIRE(x.state_keeper->count<fetch_state>() == 1);
  x.world.run_for(1min);
  x.hold(1);
  x.tell(state_fetch_failed{"the mean of step 2 can no longer be had"});
  REQUIRE(x.observer->events("state_download").size() == 1);
  CHECK(x.facts().step == 1);
  CHECK(x.facts().open);
  // It was not in vain, so nobody is kept waiting for it.
  x.hear(x.report(6, 2));
  x.world.run_for(limits::fetch_backoff + 200ms);
  CHECK(x.state_keeper->count<fetch_state>() == 2);
}

TEST_CASE("a leader waits a while for whoever is about to enter") {
  conductor_stage x;
  x.join(6);
  x.hold(0);
  x.do_step(1);
  auto led = x.matchmaking->count<lead_group>();
  x.hear(x.report(6, 0, phase::joining));
  x.compute_all();
  CHECK(x.matchmaking->count<lead_group>() == led);
  SUBCASE("until it is there") {
    x.hear(x.report(6, 1));
    x.world.run_for(100ms);
    CHECK(x.matchmaking->last<lead_group>().invitees.size() == 1);
  }
  SUBCASE("but not for ever") {
    x.world.run_for(limits::first_round_patience + 1s);
    CHECK(x.matchmaking->last<lead_group>().invitees.empty());
  }
  CHECK(x.matchmaking->count<lead_group>() == led + 1);
}

TEST_CASE("who comes into a round of its own step waits for that round") {
  conductor_stage x;
  x.join(1);
  x.hold(1);
  x.hear(x.report(1, 1, phase::averaging));
  x.compute_all();
  CHECK(x.matchmaking->count<lead_group>() == 0);
  SUBCASE("it fails: the others try again, and one of them leads") {
    x.hear(x.report(1, 1));
    x.world.run_for(limits::report_max_age - 1s);
    CHECK(x.matchmaking->count<lead_group>() == 0);
  }
  SUBCASE("it counts: the step is not done once more") {
    x.hear(x.report(1, 2));
    x.world.run_for(limits::first_round_patience + 1s);
    CHECK(x.matchmaking->count<lead_group>() == 0);
    CHECK(x.state_keeper->count<fetch_state>() > 0);
  }
  SUBCASE("nobody hears of it again: somebody has to lead") {
    for (auto waited = 0s; waited < limits::round_cap + 1s; waited += 1s) {
      x.hear(x.report(1, 1, phase::averaging));
      x.world.run_for(1s);
    }
    REQUIRE(x.matchmaking->count<lead_group>() > 0);
    CHECK(x.matchmaking->last<lead_group>().invitees.size() == 1);
  }
}

// satellite.json, seed 31: a member outside the round of all others, which was
// stuck for longer than any that it had seen, trained on alone.
TEST_CASE("outside the round of most others nobody trains alone") {
  conductor_stage x;
  for (auto other : {6, 7, 8})
    x.join(other);
  x.hold(1);
  auto hear_all = [&](phase what) {
    for (auto other : {6, 7, 8})
      x.hear(x.report(other, 1, what));
  };
  hear_all(phase::averaging);
  x.compute_all();
  auto wait = [&](duration how_long) {
    for (auto waited = duration{0}; waited < how_long; waited += 1s) {
      hear_all(phase::averaging);
      x.world.run_for(1s);
    }
  };
  wait(limits::round_cap - 5s);
  CHECK(x.matchmaking->count<lead_group>() == 0);
  SUBCASE("nor when that fails and somebody else is to lead the next") {
    x.join(1);
    x.hear(x.report(1, 1));
    for (auto i = 0; i < 5; ++i) {
      hear_all(phase::accumulating);
      x.world.run_for(1s);
    }
    x.tell(peer_left{peer(1), "gone", true});
    wait(limits::round_cap - 5s);
    CHECK(x.matchmaking->count<lead_group>() == 0);
  }
  SUBCASE("but nobody holds it up for ever") {
    wait(10s);
    CHECK(x.matchmaking->count<lead_group>() == 1);
  }
}

TEST_CASE("a failed download costs the samples that were not counted") {
  conductor_stage x;
  x.join(6);
  x.hold(0);
  x.hear(x.report(6, 2));
  x.compute_one(); // Ends during the download.
  auto dropped = x.compute->count<drop_gradient>();
  x.tell(state_fetch_failed{"all gone"});
  CHECK(x.compute->count<drop_gradient>() == dropped + 1);
}

TEST_CASE("a step's mean is kept for those who miss it") {
  conductor_stage x;
  x.hold(0);
  x.do_step(1);
  REQUIRE(x.state_keeper->count<mean_applied>() == 1);
  auto mean = x.state_keeper->last<mean_applied>().mean;
  CHECK(mean.step == 1);
  CHECK(mean.before == state_after(0));
  CHECK(mean.after == state_after(1));
}

TEST_CASE("samples of a batch that a download overtook do not count") {
  conductor_stage x;
  x.join(6);
  x.hold(0);
  x.hear(x.report(6, 2));
  x.hold(2);
  x.tell(state_fetched{});
  x.compute_one(); // The one that was asked for at step 0.
  x.compute_all();
  auto formed = x.form(3);
  CHECK(formed.contract.members[0].samples == batch);
}

TEST_CASE("whoever finishes stays a while for those who do not") {
  conductor_stage x;
  x.join(6);
  x.hold(0);
  x.do_step(1);
  x.hear(x.report(6, 1));
  x.do_step(2);
  x.hear(x.report(6, 2));
  x.do_step(3);
  CHECK(x.observer->events("finished").size() == 1);
  CHECK(x.observer->count<peer_over>() == 0);
  SUBCASE("until they have finished") {
    x.world.run_for(1s);
    CHECK(x.observer->count<peer_over>() == 0);
    x.hear(x.report(6, 3, phase::finished));
  }
  SUBCASE("until they have left") {
    x.tell(peer_left{peer(6), "bye", true});
  }
  SUBCASE("but not for ever") {
    x.world.run_for(limits::laggard_linger - 1s);
    CHECK(x.observer->count<peer_over>() == 0);
    x.world.run_for(2s);
  }
  SUBCASE("longer while they get further") {
    x.world.run_for(limits::laggard_linger - 1s);
    x.join(7);
    x.hear(x.report(7, 1));
    x.world.run_for(limits::laggard_linger - 1s);
    x.hear(x.report(7, 2));
    x.world.run_for(limits::laggard_linger - 1s);
    CHECK(x.observer->count<peer_over>() == 0);
    x.world.run_for(2s);
  }
  SUBCASE("nor for those who say something else all the time") {
    auto told = limits::laggard_linger / 2;
    for (duration waited{0}; waited < limits::laggard_patience;
         waited += told) {
      CHECK(x.observer->count<peer_over>() == 0);
      x.hear(x.report(6, 1 + waited / told % 2));
      x.world.run_for(told);
    }
    x.world.run_for(1s);
  }
  CHECK(x.observer->count<peer_over>() == 1);
}

TEST_CASE("who was cut off while as many finished makes no step of its own") {
  conductor_stage x;
  x.join(6);
  x.hold(1);
  x.hear(x.report(6, 1));
  x.hear(x.report(8, 3, phase::finished), false);
  x.compute_all();
  SUBCASE("unless more are left") {
    x.world.run_for(limits::connecting_patience + 1s);
    CHECK(x.matchmaking->count<lead_group>() == 1);
    return;
  }
  // As in `cells.json`, seed 674799883: what the others told before they left
  // is all that it finds.
  x.tell(peer_left{peer(6), "connection reset", false});
  x.world.run_for(limits::laggard_linger - 1s);
  CHECK(x.matchmaking->count<lead_group>() == 0);
  CHECK(x.observer->count<peer_over>() == 0);
  SUBCASE("and gets the last state if two of them are found") {
    x.join(8);
    x.hear(x.report(8, 3, phase::finished));
    CHECK(x.state_keeper->count<fetch_state>() == 0);
    x.join(9);
    x.hear(x.report(9, 3, phase::finished));
    CHECK(x.state_keeper->count<fetch_state>() == 1);
    x.world.run_for(2s);
    CHECK(x.observer->count<peer_over>() == 0);
    return;
  }
  SUBCASE("but goes on when who said so is found to be training") {
    x.hear(x.report(8, 1), false);
    x.world.run_for(limits::connecting_patience + 1s);
    CHECK(x.matchmaking->count<lead_group>() == 1);
    return;
  }
  x.world.run_for(2s);
  REQUIRE(x.observer->count<peer_over>() == 1);
  CHECK(x.observer->last<peer_over>().problem.find("step 1 of 3")
        != std::string::npos);
  x.world.run_for(limits::laggard_linger);
  CHECK(x.observer->count<peer_over>() == 1);
}

TEST_CASE("the last checkpoint is written before the peer is over") {
  conductor_stage x{role::trainer, true};
  x.hold(0);
  x.do_step(1);
  CHECK(x.state_keeper->count<save_checkpoint_now>() == 0);
  x.do_step(2);
  CHECK(x.state_keeper->count<save_checkpoint_now>() == 1);
  x.do_step(3);
  CHECK(x.state_keeper->last<save_checkpoint_now>().step == 3);
  CHECK(x.observer->count<peer_over>() == 0);
  SUBCASE("and all is well") {
    x.tell(checkpoint_saved{3, "path", ""});
    REQUIRE(x.observer->count<peer_over>() == 1);
    CHECK(x.observer->last<peer_over>().problem.empty());
  }
  SUBCASE("or its user hears that it is not") {
    x.tell(checkpoint_saved{3, "path", "cannot write path: no room"});
    REQUIRE(x.observer->count<peer_over>() == 1);
    CHECK(x.observer->last<peer_over>().problem.find("no room")
          != std::string::npos);
    CHECK_FALSE(x.observer->last<peer_over>().users_mistake);
  }
  CHECK(x.observer->events("checkpoint").size() == 1);
}

TEST_CASE("a helper follows the run and ends with it") {
  conductor_stage x{role::auxiliary};
  x.join(6);
  x.hear(x.report(6, 1));
  CHECK(x.facts().open);
  auto formed = x.form(2);
  REQUIRE(x.averager->count<begin_round>() == 1);
  CHECK(x.compute->count<lend_gradient>() == 0);
  round_over over;
  over.contract = formed.contract;
  over.committed = true;
  x.tell(over);
  CHECK(x.facts().open);
  CHECK(x.observer->count<peer_over>() == 0);
  x.hear(x.report(6, 3, phase::finished));
  CHECK(x.observer->count<peer_over>() == 1);
}

TEST_CASE("a peer of another charter is nobody's companion") {
  conductor_stage x;
  x.join(6);
  x.hold(0);
  auto other = x.report(6, 2);
  other.charter = digest_of("x", 1);
  x.hear(other);
  CHECK(x.state_keeper->count<fetch_state>() == 0);
  x.compute_all();
  CHECK(x.matchmaking->last<lead_group>().invitees.empty());
}

TEST_CASE("a measured line counts where the user stated none") {
  for (double stated : {0.0, 5e6}) {
    CAPTURE(stated);
    conductor_stage x{role::trainer, false, stated};
    x.hold(0);
    x.tell(line_measured{2e6, 3e6, {}});
    x.do_step(1);
    CHECK(x.facts().upload_bytes_per_second == (stated > 0 ? stated : 2e6));
    CHECK(x.facts().download_bytes_per_second == 3e6);
    auto said = x.roster->last<own_report>().report;
    CHECK(said.upload_bytes_per_second == (stated > 0 ? stated : 2e6));
    CHECK(said.download_bytes_per_second == 3e6);
  }
}

TEST_CASE("the longer a step lasts, the more rarely contributors look") {
  conductor_stage x;
  auto cell = x.pretend_cell();
  x.hold(0);
  x.world.run_for(60s);
  REQUIRE(cell->count<contributor_pace>() > 0);
  auto pace = cell->last<contributor_pace>();
  CHECK(pace.look > limits::shortest_look);
  CHECK(x.roster->last<contributor_pace>() == pace);
  CHECK(cell->count<contributor_pace>() <= 3); // Not with every second.
  x.world.run_for(600s);
  CHECK(cell->last<contributor_pace>().look == limits::longest_look);
  CHECK(cell->count<contributor_pace>() <= 8);
}
