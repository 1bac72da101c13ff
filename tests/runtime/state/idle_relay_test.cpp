/// A contributor whose relay has one mean and comes by nothing else.
#include <doctest/doctest.h>

#include "runtime/state/limits.hpp"
#include "tests/runtime/state/steps.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t values = 200'000; ///< 49 pieces.

/// A contributor whose sponsor is a step ahead, and a relay that has the mean
/// of that step and comes by nothing else. Letters arrive at once.
struct idle_relay {
  idle_relay() {
    run = state_of(values, 10);
    goal.own_step = run.step;
    goal.own_state = run.recent.front();
    held = run;
    relay.holds(run.step, run.recent.front(), now);
    first = step();
    mean_journal list{
        {limits::means_kept, limits::journal_steps, limits::journal_bytes}};
    list.add(first);
    auto manifest = list.manifest(first.step);
    relay.expects({manifest, first.values}, now);
    for (std::uint32_t i = 0; i < manifest.pieces.size(); ++i)
      relay.placed({first.step, i}, now);
    goal.step = run.step;
    goal.state = run.recent.front();
    goal.values = values;
    goal.donors = {id_of(0)};
    goal.relay = id_of(1);
  }

  /// The sponsor takes a step.
  passed_mean step() {
    auto before = run.recent.front();
    auto mean = some_mean(values, run.step);
    lay_on(run, *mean);
    sponsor.holds(run.step, run.recent.front(), now);
    return {run.step,           64,  run.history_samples, before,
            run.recent.front(), mean};
  }

  /// Until nobody has anything to say.
  void exchange() {
    for (bool busy = true; busy;) {
      busy = false;
      if (sponsor.wants_copy())
        sponsor.copied(std::make_shared<training_state>(run), now);
      for (auto& x : joiner.take_letters()) {
        busy = true;
        auto& to = x.to == id_of(0) ? sponsor : relay;
        if (auto wish = std::get_if<state_request>(&x.content))
          to.read(id_of(2), *wish, now);
        if (auto wish = std::get_if<piece_request>(&x.content))
          to.read(id_of(2), *wish, now);
      }
      for (auto from : {&sponsor, &relay})
        for (auto& x : from->take_letters()) {
          busy = true;
          auto who = from == &sponsor ? id_of(0) : id_of(1);
          if (auto list = std::get_if<state_manifest>(&x.content))
            joiner.read(who, *list, now);
          if (auto piece = std::get_if<state_piece>(&x.content))
            joiner.read(who, *piece, x.body, now);
        }
    }
  }
  template <class Thing>
  bool wait_for(Thing thing) {
    for (auto end = now + 10s; now < end; now += limits::fetch_interval) {
      joiner.look(now);
      exchange();
      if (thing())
        return true;
    }
    return false;
  }

  time_point now{1s};
  waiting_donor sponsor{usual_donor()}, relay{usual_donor()};
  waiting_joiner joiner{id_of(2), usual_joiner()};
  training_state run, held; ///< The sponsor's state, and the contributor's.
  passed_mean first;        ///< From one to the other, at the start.
  fetch_goal goal;
};

} // namespace

TEST_CASE("a state comes from those who have it, not from the chain") {
  idle_relay x; // The sponsor took the state over: it has no mean of the step.
  x.joiner.begin(x.goal, x.now);
  std::shared_ptr<training_state> state;
  REQUIRE(x.wait_for([&] {
    state = x.joiner.take_state();
    return state != nullptr;
  }));
  CHECK(state->recent.front() == x.run.recent.front());
}

TEST_CASE("a mean that a chain does not list comes from the sponsor") {
  idle_relay x;
  x.sponsor.passed(x.first, x.now);
  x.joiner.begin(x.goal, x.now);
  x.exchange();
  x.sponsor.passed(x.step(), x.now);
  for (std::uint64_t step : {11, 12}) {
    CAPTURE(step);
    std::optional<mean_job> job;
    REQUIRE(x.wait_for([&] {
      job = x.joiner.take_one<mean_job>();
      return job.has_value();
    }));
    REQUIRE(job->step == step);
    lay_on(x.held, *job->values);
    x.joiner.applied(step, x.held.recent.front(), x.now);
  }
  CHECK(x.held.recent.front() == x.run.recent.front());
}
