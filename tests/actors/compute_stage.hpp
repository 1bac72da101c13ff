/// A compute actor between fakes, and what tests of it say all the time.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "actors/compute.hpp"
#include "actors/wiring.hpp"
#include "tests/support/test_world.hpp"
#include "tests/support/tiny_trainer.hpp"

namespace potluck {

struct compute_stage {
  /// @param given What it lacks is filled in.
  compute_stage(const run_settings& settings, compute_config given)
      : conductor(system.pretend<conductor_actor>()),
        averager(system.pretend<averager_actor>()),
        state_keeper(system.pretend<state_keeper_actor>()),
        config(std::move(given)) {
    config.agreed = charter{settings, ""};
    if (!config.vault)
      config.vault = std::make_shared<state_vault>();
    if (!config.make_trainer)
      config.make_trainer
          = [](const charter&) { return std::make_unique<tiny_trainer>(); };
    config.mode = worker_mode::immediate;
    start();
  }

  static run_settings settings(bool delayed) {
    auto result = tiny_charter(100, 64).settings();
    if (delayed)
      result.updates = "delayed";
    return result;
  }

  void start() {
    it = system.keep((*system).spawn(compute, config));
    ended = false;
    it->attach_functor([this](const caf::error& why) {
      ended = true;
      reason = caf::actor_system_config::render(why);
    });
    wiring w;
    w.compute = it;
    w.conductor = conductor.handle;
    w.averager = averager.handle;
    w.state_keeper = state_keeper.handle;
    tell(w.for_compute());
  }
  template <class T>
  void tell(const T& x) {
    caf::anon_send(it, x);
    system.run();
  }
  void batch(std::uint64_t step, std::uint64_t first, std::uint32_t samples) {
    batch_request request;
    request.order_seed = 3;
    request.first_sample = first;
    request.samples = samples;
    tell(compute_batch{step, request});
  }

  bool ended = false;
  std::string reason;
  test_system system;
  fake<conductor_actor> conductor;
  fake<averager_actor> averager;
  fake<state_keeper_actor> state_keeper;
  compute_config config;
  compute_actor it;
};

} // namespace potluck
