/// A joiner and a donor that are both behind routers, and an auxiliary that
/// keeps the state: the joiner gets it there.
#include <doctest/doctest.h>

#include "actors/state_keeper.hpp"
#include "tests/actors/node.hpp"
#include "tests/support/tiny_trainer.hpp"
#include "tools/lab/sim/memory_pieces.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t parameters = 200'000;

std::shared_ptr<training_state> shelved_state() {
  auto x = std::make_shared<training_state>();
  x->step = 5;
  x->history_samples = 320;
  x->parameters.assign(parameters, 1.0f);
  x->first_moment.assign(parameters, 2.0f);
  x->second_moment.assign(parameters, 3.0f);
  remember_digest(*x);
  return x;
}

struct shelf_street {
  explicit shelf_street(std::shared_ptr<memory_pieces> where) {
    world.network.cut(host(2), host(3));
    for (auto* x : {&hub, &donor, &joiner}) {
      state_keeper_config c;
      c.self = x->id;
      c.agreed = tiny_charter(10, 64);
      c.mode = worker_mode::immediate;
      c.trains = x != &hub;
      c.pieces = where;
      x->replace(&wiring::state_keeper, (*x->system).spawn(state_keeper, c));
      own_report news;
      news.report.id = x->id;
      news.report.phase = phase::accumulating;
      caf::anon_send(x->wired.roster, news);
    }
    REQUIRE(world.run_until(
        [&] {
          return joiner.companions() == 2 && donor.companions() == 2
                 && hub.companions() == 2;
        },
        30s));
    hold(donor, *state);
    // Of the joiner's model, but no state that anybody wants.
    training_state own;
    own.recent.push_back({});
    hold(joiner, own);
    progress_report report;
    report.id = donor.id;
    report.step = state->step;
    report.state = state->recent.front();
    caf::anon_send(hub.wired.state_keeper, report_heard{report, true});
    fetch_state order;
    order.goal.step = state->step;
    order.goal.state = state->recent.front();
    order.goal.donors = {donor.id};
    caf::anon_send(joiner.wired.state_keeper, order);
    for (auto i = 0; i < 600 && joiner.conductor->count<state_fetched>() == 0;
         ++i) {
      world.run_for(50ms);
      if (donor.compute->count<take_snapshot>() > copies) {
        ++copies;
        caf::anon_send(donor.wired.state_keeper, snapshot_taken{state});
      }
      if (joiner.compute->count<adopt_state>() > adopted) {
        ++adopted;
        hold(joiner, *joiner.compute->last<adopt_state>().state);
      }
    }
    REQUIRE(joiner.conductor->count<state_fetched>() == 1);
    result = joiner.conductor->last<state_fetched>().result;
  }
  void hold(node& x, const training_state& what) {
    state_changed news;
    news.step = what.step;
    news.history_samples = what.history_samples;
    news.state = what.recent.front();
    news.gradient_values = parameters;
    caf::anon_send(x.wired.state_keeper, news);
    world.settle();
  }

  test_world world;
  node hub{world, 1, {}, role::auxiliary}, donor{world, 2, {1}},
      joiner{world, 3, {1}};
  std::shared_ptr<training_state> state = shelved_state();
  std::size_t copies = 0, adopted = 0;
  fetch_result result;
};

} // namespace

TEST_CASE("a joiner whose donors are behind hubs gets their state from one") {
  auto store = std::make_shared<memory_pieces>();
  shelf_street x{store};
  CHECK(x.result.donor == x.hub.id);
  CHECK(x.result.donors == 1);
  CHECK(x.result.step == 5);
  state_snapshot whole{x.state};
  for (auto& piece : whole.manifest(0).pieces)
    CHECK(store->has(piece));
  CHECK(x.hub.observer->events("fault").empty());
}

TEST_CASE("an auxiliary without a store leaves joiners to the donors") {
  shelf_street x{nullptr};
  CHECK(x.result.donor == x.donor.id);
  CHECK(x.result.seconds < 20);
}
