/// A whole collaboration in virtual time: machines, the network between them,
/// what befalls them by a scenario, and the promises that must hold.
///
/// The same seed gives the same history, to the byte, in any number of threads.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tools/lab/sim/accidents.hpp"
#include "tools/lab/sim/mean_watch.hpp"

namespace potluck::simulation {

struct options {
  std::uint64_t seed = 1;
  /// Only the duration of computing is simulated, not the model.
  bool weightless = false;
  /// No trainer rests, however thin its line is.
  bool all_compute = false;
  /// For crowds; smaller collaborations have too little to do at a time.
  unsigned threads = 1;
  /// What its peers check: all, but where a run shall be seen to fail.
  safeguard_set guards;
  /// Whether the scenario's strangers do anything: what a run takes with them
  /// is held against what it takes without.
  bool strangers = true;
  /// Whether peers take rare paths on purpose (runtime/fault_points.hpp).
  bool fault_points = false;
  /// Gets every event as a line of JSON; null for none.
  std::function<void(const std::string& line)> log;
  /// Called about once a virtual second; false ends the simulation.
  std::function<bool(const class world&)> watch;
};

/// How a simulation ended.
struct report {
  bool passed = false;
  bool interrupted = false;
  std::vector<std::string> violations;
  duration lasted{0}; ///< Virtual time.
  std::uint64_t steps = 0;
  duration last_step{0}; ///< When one was made last.
  /// The longest that a peer took from its start to its first step, of those
  /// that came when others had made one.
  duration slowest_entry{0};
  std::uint64_t samples = 0; ///< Behind the longest history.
  double first_try = 0;      ///< Share of steps whose first round succeeded.
  std::size_t splits = 0;    ///< Steps that two histories have.
  double loss = 0;
  double drift = 0;      ///< See `near_parameters::drift`.
  double most_drift = 0; ///< Allowed.
  std::uint64_t checks = 0;
  std::uint64_t expert_updates = 0;
  std::uint64_t expert_moves = 0; ///< Experts that came to other hosts.
  std::uint64_t messages = 0;     ///< That actors handled.
  std::size_t most_peers = 0;     ///< At one time.
  std::map<fault_kind, std::uint64_t> faults;
  potluck::fault_points::counts rare_paths{}; ///< Taken by all together.
  std::vector<std::string> history;           ///< What befell whom.
  line_counters network;                      ///< Parcels are frames.
  std::uint64_t highest_queue = 0; ///< Bytes of one connection, one way.
  digest log;                      ///< Of all events, in order.
};

class world {
public:
  /// Throws std::runtime_error when the scenario's settings cannot be a run.
  world(const scenario& what, options how);

  /// Runs to the end: all finished, out of time, or too much is wrong.
  report run();

  duration now() const {
    return time_.now();
  }
  const course& how_far() const {
    return judge_.how_far();
  }
  /// Peers.
  std::size_t running() const {
    return peers_.running();
  }
  duration lasts() const {
    return what_.lasts;
  }

private:
  population::customs customs();
  turns::listener followers();
  void heard(std::size_t number, const event& x);
  void over(std::size_t number, const peer_over& x);
  /// A peer has made a step.
  void stepped(inhabitant& x);
  /// Holds a mean under way against the promise of tallies.
  void judge_mean(const std::string& from, const outgoing_frame& x);
  /// Notes whether a bound holds; `say` makes the sentence when it does not.
  template <class Say>
  void bound(bool holds, Say say) {
    judge_.of<looked_at<stays_in_bounds>>().check(holds, now(), say);
  }
  /// Holds machines and queues against their limits.
  void look_around();
  void look_at(const inhabitant& x);
  void look_for_progress();
  bool all_over() const;
  void judge_the_end();
  /// Everybody leaves; then nothing may be left.
  void send_home();
  report tell() const;

  const scenario what_;
  const options how_;
  const run_settings settings_;
  fault_plan plan_;
  sim_network network_;
  run_judge judge_;
  turns time_;
  expert_staff experts_;
  population peers_;
  accidents accidents_;
  mean_watch means_;
  std::vector<std::size_t> ended_; ///< Whose peers have ended by themselves.
  std::optional<duration> calm_since_;
  duration slowest_entry_{0};
  bool finishing_ = false; ///< Somebody has finished: nothing more begins.
  digest log_;
};

} // namespace potluck::simulation
