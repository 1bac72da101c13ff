/// A conductor on a stage, for its tests.
#pragma once

#include <doctest/doctest.h>

#include "actors/conductor.hpp"
#include "actors/wiring.hpp"
#include "tests/support/test_world.hpp"
#include "tests/support/tiny_trainer.hpp"

namespace potluck {

inline constexpr std::uint64_t steps = 3;
inline constexpr std::uint64_t batch = 64;

inline digest state_after(std::uint64_t step) {
  return digest_of(&step, sizeof(step));
}

/// A conductor whose compute, matchmaking, averager and others are played by
/// the test.
struct conductor_stage {
  explicit conductor_stage(role r = role::trainer, bool checkpoints = false,
                           double upload = 0,
                           charter about = tiny_charter(steps, batch))
      : agreed(std::move(about)), system(world.add_system()),
        roster(system.pretend<roster_actor>()),
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
    wired.roster = roster.handle;
    wired.matchmaking = matchmaking.handle;
    wired.averager = averager.handle;
    wired.observer = observer.handle;
    wired.conductor = it;
    if (r == role::trainer) {
      wired.state_keeper = state_keeper.handle;
      wired.compute = compute.handle;
    }
    tell(wired.for_conductor());
  }

  template <class T>
  void tell(const T& x) {
    caf::anon_send(it, x);
    world.settle();
  }

  /// As in a peer that may average in two levels.
  fake<cell_actor> pretend_cell() {
    auto cell = system.pretend<cell_actor>();
    wired.cell = cell.handle;
    tell(wired.for_conductor());
    return cell;
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
    end_round(formed, true);
    REQUIRE(compute->last<apply_mean>().step == step);
    hold(step, true);
  }
  matchmaking_facts facts() const {
    return matchmaking->last<matchmaking_facts>();
  }

  test_world world;
  charter agreed;
  std::size_t answered = 0;
  test_system& system;
  fake<roster_actor> roster;
  fake<state_keeper_actor> state_keeper;
  fake<compute_actor> compute;
  fake<matchmaking_actor> matchmaking;
  fake<averager_actor> averager;
  fake<observer_actor> observer;
  conductor_actor it;
  wiring wired;
};

} // namespace potluck
