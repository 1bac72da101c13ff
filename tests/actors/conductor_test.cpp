#include "actors/conductor.hpp"

#include <doctest/doctest.h>

#include "runtime/config.hpp"
#include "tests/support/test_world.hpp"
#include "tests/support/tiny_trainer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t steps = 3;
constexpr std::uint64_t batch = 64;

digest state_after(std::uint64_t step) {
  return digest_of(&step, sizeof(step));
}

/// A conductor whose compute, matchmaking, averager and others are played by
/// the test.
struct stage {
  explicit stage(role r = role::trainer, bool checkpoints = false,
                 double upload = 0)
      : system(world.add_system()), roster(system.pretend<roster_actor>()),
        state_keeper(system.pretend<state_keeper_actor>()),
        compute(system.pretend<compute_actor>()),
        matchmaking(system.pretend<matchmaking_actor>()),
        averager(system.pretend<averager_actor>()),
        observer(system.pretend<observer_actor>()) {
    conductor_config c;
    c.self = peer(5);
    c.role = r;
    c.agreed = agreed;
    c.micro_batch = 16;
    c.writes_checkpoints = checkpoints;
    c.checkpoint_every = 2;
    c.upload_bytes_per_second = upload;
    it = system.keep((*system).spawn(conductor, c));
    wiring w;
    w.roster = roster.handle;
    w.matchmaking = matchmaking.handle;
    w.averager = averager.handle;
    w.observer = observer.handle;
    w.conductor = it;
    if (r == role::trainer) {
      w.state_keeper = state_keeper.handle;
      w.compute = compute.handle;
    }
    tell(w);
  }

  template <class T>
  void tell(const T& x) {
    caf::anon_send(it, x);
    world.settle();
  }

  void hold(std::uint64_t step, bool applied = false) {
    state_changed x;
    x.step = step;
    x.history_samples = step * batch;
    x.state = state_after(step);
    x.gradient_values = tiny_trainer::values;
    x.applied = applied;
    tell(x);
  }
  /// Answers one batch request; false when none is open.
  bool compute_one() {
    auto asked = compute->all<compute_batch>();
    if (asked.size() <= answered)
      return false;
    auto request = asked[answered++];
    batch_done done;
    done.step = request.step;
    done.number = request.number;
    done.result = {request.request.samples, request.request.samples * 2.0};
    done.seconds = 0.01 * request.request.samples;
    tell(done);
    return true;
  }
  void compute_all() {
    while (compute_one())
      ;
  }
  progress_report report(std::uint8_t number, std::uint64_t step,
                         phase p = phase::accumulating) {
    progress_report r;
    r.id = peer(number);
    r.where = {host(number), 1000};
    r.charter = agreed.digest();
    r.step = step;
    r.history_samples = step * batch;
    r.state = state_after(step);
    r.phase = p;
    return r;
  }
  void join(std::uint8_t number) {
    peer_joined news;
    news.who = contact_of(number);
    tell(news);
  }
  void hear(const progress_report& r, bool connected = true) {
    tell(report_heard{r, connected});
  }

  /// Freezes for a group of this peer alone, and forms it.
  group_formed form(std::uint64_t step) {
    group_formed formed;
    formed.contract.group.bytes[0] = static_cast<std::uint8_t>(step);
    tell(freeze_wanted{formed.contract.group});
    formed.contract.step = step;
    formed.contract.gradient_values = tiny_trainer::values;
    struct group_member self;
    self.who = contact_of(5);
    auto frozen = matchmaking->last<gradient_frozen>();
    self.samples = frozen.samples;
    self.loss_sum = frozen.loss_sum;
    formed.contract.members.push_back(self);
    tell(formed);
    return formed;
  }
  void end_round(const group_formed& formed, bool committed) {
    round_over over;
    over.contract = formed.contract;
    over.committed = committed;
    over.samples = batch;
    if (committed)
      over.mean = std::make_shared<std::vector<float>>(tiny_trainer::values);
    tell(over);
  }
  /// One whole step, from accumulating to the applied mean.
  void do_step(std::uint64_t step) {
    compute_all();
    auto formed = form(step);
    tell(gradient_lent{std::make_shared<std::vector<float>>()});
    end_round(formed, true);
    REQUIRE(compute->last<apply_mean>().step == step);
    hold(step, true);
  }
  matchmaking_facts facts() const {
    return matchmaking->last<matchmaking_facts>();
  }

  test_world world;
  charter agreed = tiny_charter(steps, batch);
  std::size_t answered = 0;
  test_system& system;
  fake<roster_actor> roster;
  fake<state_keeper_actor> state_keeper;
  fake<compute_actor> compute;
  fake<matchmaking_actor> matchmaking;
  fake<averager_actor> averager;
  fake<observer_actor> observer;
  conductor_actor it;
};

} // namespace

TEST_CASE("nothing is computed before there is a state") {
  stage x;
  x.world.run_for(1s);
  CHECK(x.compute->count<compute_batch>() == 0);
  CHECK_FALSE(x.facts().open);
  x.hold(0);
  CHECK(x.compute->count<compute_batch>() == 1);
  CHECK(x.facts().open);
}

TEST_CASE("a peer alone accumulates the target batch and leads") {
  stage x;
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
  stage x;
  x.hold(0);
  x.compute_all();
  auto formed = x.form(1);
  CHECK(formed.contract.members[0].samples == batch);
  CHECK(x.compute->count<lend_gradient>() == 1);
  auto gradient = std::make_shared<std::vector<float>>(4, 1.0f);
  x.tell(gradient_lent{gradient});
  REQUIRE(x.averager->count<begin_round>() == 1);
  CHECK(x.averager->last<begin_round>().gradient == gradient);
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
  stage x;
  x.join(2);
  x.hold(0);
  x.hear(x.report(2, 0));
  x.compute_all();
  x.world.run_for(1s);
  CHECK(x.matchmaking->count<lead_group>() == 0);
}

TEST_CASE("the leader invites companions and helpers") {
  stage x;
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

TEST_CASE("a peer only heard of is waited for, but not for long") {
  stage x;
  x.hold(0);
  x.hear(x.report(9, 0), false);
  x.compute_all();
  x.world.run_for(limits::connecting_patience - 500ms);
  CHECK(x.matchmaking->count<lead_group>() == 0);
  x.world.run_for(1s);
  CHECK(x.matchmaking->count<lead_group>() == 1);
}

TEST_CASE("a freeze waits for the batch under way") {
  stage x;
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
  stage x;
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
    x.tell(gradient_lent{std::make_shared<std::vector<float>>()});
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

TEST_CASE("who is behind fetches, and tries the next donor") {
  stage x;
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

TEST_CASE("a leader waits a while for whoever is about to enter") {
  stage x;
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
  stage x;
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
    for (auto waited = 0s; waited < limits::first_round_patience + 1s;
         waited += 1s) {
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
  stage x;
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
  stage x;
  x.join(6);
  x.hold(0);
  x.hear(x.report(6, 2));
  x.compute_one(); // Ends during the download.
  auto dropped = x.compute->count<drop_gradient>();
  x.tell(state_fetch_failed{"all gone"});
  CHECK(x.compute->count<drop_gradient>() == dropped + 1);
}

TEST_CASE("a step's mean is kept for those who miss it") {
  stage x;
  x.hold(0);
  x.do_step(1);
  REQUIRE(x.state_keeper->count<mean_applied>() == 1);
  auto mean = x.state_keeper->last<mean_applied>().mean;
  CHECK(mean.step == 1);
  CHECK(mean.before == state_after(0));
  CHECK(mean.after == state_after(1));
}

TEST_CASE("samples of a batch that a download overtook do not count") {
  stage x;
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
  stage x;
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
  CHECK(x.observer->count<peer_over>() == 1);
}

TEST_CASE("the last checkpoint is written before the peer is over") {
  stage x{role::trainer, true};
  x.hold(0);
  x.do_step(1);
  CHECK(x.state_keeper->count<save_checkpoint_now>() == 0);
  x.do_step(2);
  CHECK(x.state_keeper->count<save_checkpoint_now>() == 1);
  x.do_step(3);
  CHECK(x.state_keeper->last<save_checkpoint_now>().step == 3);
  CHECK(x.observer->count<peer_over>() == 0);
  x.tell(checkpoint_saved{3, "path", ""});
  CHECK(x.observer->count<peer_over>() == 1);
  CHECK(x.observer->events("checkpoint").size() == 1);
}

TEST_CASE("a helper follows the run and ends with it") {
  stage x{role::auxiliary};
  x.join(6);
  x.hear(x.report(6, 1));
  CHECK(x.facts().open);
  auto formed = x.form(2);
  REQUIRE(x.averager->count<begin_round>() == 1);
  CHECK(x.averager->last<begin_round>().gradient == nullptr);
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
  stage x;
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
    stage x{role::trainer, false, stated};
    x.hold(0);
    x.tell(line_measured{2e6, 3e6});
    x.do_step(1);
    CHECK(x.facts().upload_bytes_per_second == (stated > 0 ? stated : 2e6));
    CHECK(x.facts().download_bytes_per_second == 3e6);
    auto said = x.roster->last<own_report>().report;
    CHECK(said.upload_bytes_per_second == (stated > 0 ? stated : 2e6));
    CHECK(said.download_bytes_per_second == 3e6);
  }
}
