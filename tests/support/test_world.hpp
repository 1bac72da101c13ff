/// Virtual time for actors: systems on CAF's test coordinator, and the memory
/// network between them, all on the test's thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "runtime/random.hpp"
#include "tests/support/fake_actor.hpp"
#include "tests/support/memory_network.hpp"

namespace potluck {

/// One actor system that runs only when told to.
class test_system {
public:
  test_system() : system_(configured(config_)) {
  }
  ~test_system() {
    for (auto& x : kept_)
      caf::anon_send_exit(x, caf::exit_reason::kill);
    run();
  }

  caf::actor_system& operator*() {
    return system_;
  }

  /// Messages handled until nothing is left to do at this moment.
  std::size_t run() {
    if (!order_)
      return coordinator().run();
    std::size_t count = 0;
    for (auto& jobs = coordinator().jobs; !jobs.empty(); ++count) {
      std::swap(jobs.front(), jobs[order_->below(jobs.size())]);
      coordinator().run_once();
    }
    return count;
  }
  /// From now on, chance says which of the ready actors is next. Each still
  /// reads its own mail in order.
  void shuffle(std::uint64_t seed) {
    order_.emplace(seed);
  }
  void advance(duration by) {
    coordinator().advance_time(by);
  }

  /// Ends `x` with the system, since what ticks itself never would.
  template <class Handle>
  Handle keep(Handle x) {
    kept_.push_back(caf::actor_cast<caf::actor>(x));
    return x;
  }
  template <class Handle>
  fake<Handle> pretend() {
    fake<Handle> x{system_};
    keep(x.handle);
    return x;
  }

private:
  static caf::actor_system_config& configured(caf::actor_system_config& x) {
    x.set("scheduler.policy", caf::atom("testing"));
    return x;
  }
  caf::scheduler::test_coordinator& coordinator() {
    return dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
  }

  caf::actor_system_config config_;
  caf::actor_system system_;
  std::vector<caf::actor> kept_;
  std::optional<random_stream> order_;
};

/// Several systems and their network under one clock.
class test_world {
public:
  static constexpr duration step = std::chrono::milliseconds{10};

  test_system& add_system() {
    systems_.push_back(std::make_unique<test_system>());
    return *systems_.back();
  }
  test_system& system(std::size_t i) {
    return *systems_.at(i);
  }

  /// Until neither a message nor a frame is left at this moment.
  void settle() {
    for (std::size_t moved = 1; moved != 0;) {
      moved = network.deliver(now_);
      for (auto& x : systems_)
        moved += x->run();
    }
  }

  void run_for(duration d) {
    settle();
    for (auto end = now_ + d; now_ < end;) {
      now_ += step;
      for (auto& x : systems_)
        x->advance(step);
      settle();
    }
  }

  /// Runs until `condition()` holds; false when it does not within `patience`.
  template <class Condition>
  bool run_until(Condition condition, duration patience) {
    settle();
    for (auto end = now_ + patience; !condition();) {
      if (now_ >= end)
        return false;
      run_for(step);
    }
    return true;
  }

  duration now() const {
    return now_;
  }

  memory_network network;

private:
  duration now_{0};
  std::vector<std::unique_ptr<test_system>> systems_;
};

/// The peer id that starts with this number.
inline peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  x.bytes[31] = 1; // Zero would be nobody.
  return x;
}

inline std::string host(std::uint8_t number) {
  return "10.0.0." + std::to_string(number);
}

inline contact contact_of(std::uint8_t number) {
  return {peer(number), {host(number), 1000}};
}

} // namespace potluck
