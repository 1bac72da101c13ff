/// One simulated computer: it runs one peer at a time, as an actor system of
/// its own on CAF's test coordinator, by its own clock; or a stranger, which is
/// no peer.
///
/// Switching it off is a process's sudden end: nothing that its actors would
/// still say leaves it. Whether all of them ended is counted.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/peer.hpp"
#include "runtime/fault_points.hpp"
#include "runtime/random.hpp"
#include "tools/lab/scenario/fault_plan.hpp"
#include "tools/lab/sim/strangers/stranger.hpp"

namespace potluck::simulation {

class machine {
public:
  /// Hears what the peer tells its user.
  struct audience {
    std::function<void(const event&)> told;
    std::function<void(const peer_over&)> over;
  };

  /// @param seed Of the order of ready actors.
  machine(scripted_peer plan, std::uint64_t seed);
  ~machine();

  const scripted_peer& plan() const {
    return plan_;
  }

  /// An application's actor beside the peer, that ends with it.
  using companion = std::function<caf::actor(caf::actor_system&)>;

  /// Starts a peer at `now`; the machine must be idle.
  void start(peer_config config, audience listener, duration now,
             companion beside = nullptr);
  /// Likewise a stranger, which goes by the world's clock.
  void start(std::unique_ptr<stranger> x);

  bool running() const {
    return system_ != nullptr || stranger_ != nullptr;
  }

  /// Asks the peer to leave in order. Without effect when idle.
  void leave(const std::string& reason);

  /// Ends everything at once; the caller has cut it off the network before.
  /// Returns the number of actors that would not end: none, if all is well.
  std::size_t switch_off();

  /// Ends one of the peer's actors, as a crash would. `name` as in the tree
  /// ("averager"), or empty for any, drawn from `chance`. Returns its name;
  /// empty when there is none.
  std::string crash_actor(const std::string& name, random_stream& chance);

  /// Actors left when the peer itself has ended; nothing while it lives.
  std::optional<std::size_t> left_over();

  /// Whether its actors have nothing to do until it wakes, or is told of
  /// something.
  bool idle() const;
  /// When one of its actors wants to wake up; nothing when none does.
  std::optional<duration> wake() const;

  /// Moves its clock to `now` and lets its actors work until all are idle.
  /// Returns how many messages they handled.
  std::size_t run(duration now);
  /// Called in a thread that will run no machine for a while: CAF keeps the
  /// last one's system alive in it, whose end would be waited for.
  static void leave_thread();
  /// When it ran last.
  duration now() const {
    return now_;
  }

  // What befalls it.
  void drift(double rate, duration now);
  double slowness = 1;      ///< Computes so many times slower than planned.
  bool bends_means = false; ///< Lies about what it averages.
  bool is_greedy = false; ///< Counts its samples so many times where it leads:
  static constexpr std::uint64_t greed = 256;
  bool stopped = false;
  /// Rare paths that its peers take; null: none.
  std::unique_ptr<fault_points> rare;

  // What is counted.
  std::size_t actors() const;
  std::size_t timers() const;

private:
  caf::scheduler::test_coordinator& coordinator() const {
    return *coordinator_;
  }
  duration local(duration now) const;
  void forget_peer();

  caf::scheduler::test_coordinator* coordinator_ = nullptr; ///< The system's.
  random_stream order_;
  double rate_;
  duration now_{0};
  duration base_global_{0};
  duration base_local_{0};
  caf::actor_clock::time_point began_;
  std::unique_ptr<caf::actor_system> system_;
  std::unique_ptr<stranger> stranger_;
  peer_actor peer_;
  bool peer_ended_ = false;

  scripted_peer plan_;
  caf::actor_system_config config_;
  audience audience_;
  observer_actor observer_;
  caf::actor companion_;
  std::map<std::string, caf::actor> children_;
};

} // namespace potluck::simulation
