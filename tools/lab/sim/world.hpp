/// A whole collaboration in virtual time: machines, the network between them,
/// what befalls them by a scenario, and the promises that must hold.
///
/// The same seed gives the same history, to the byte, in any number of threads.
#pragma once

#include <functional>
#include <queue>
#include <string>

#include "tools/lab/judge/run_judge.hpp"
#include "tools/lab/network/sim_network.hpp"
#include "tools/lab/scenario/fault_plan.hpp"
#include "tools/lab/sim/crew.hpp"
#include "tools/lab/sim/expert_parts.hpp"
#include "tools/lab/sim/machine.hpp"
#include "tools/lab/sim/sim_disk.hpp"

namespace potluck::simulation {

struct options {
  std::uint64_t seed = 1;
  /// Only the duration of computing is simulated, not the model.
  bool weightless = false;
  /// For crowds; smaller collaborations have too little to do at a time.
  unsigned threads = 1;
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
  std::vector<std::string> history; ///< What befell whom.
  sim_network::statistics network;
  digest log; ///< Of all events, in order.
};

class world {
public:
  /// Throws std::runtime_error when the scenario's settings cannot be a run.
  world(const scenario& what, options how);
  ~world();

  /// Runs to the end: all finished, out of time, or too much is wrong.
  report run();

  duration now() const {
    return now_;
  }
  const course& how_far() const {
    return judge_->how_far();
  }
  /// Peers.
  std::size_t running() const {
    return running_;
  }
  duration lasts() const {
    return what_.lasts;
  }

private:
  /// A peer as it is over all its lives.
  struct life {
    std::unique_ptr<machine> box;
    std::unique_ptr<sim_disk> disk;
    expert_shelves shelves;                ///< Of a host of experts.
    std::shared_ptr<expert_client> client; ///< Of a caller.
    peer_id id;
    std::string host;
    std::uint64_t lives = 0;
    bool honest = true;
    bool finished = false;
    bool leaving = false;
    std::vector<duration> crashes; ///< When actors were made to fail.
    std::size_t handled = 0;       ///< Messages, in its turn.
    std::optional<duration> wake;
    /// Actors that have outlived its peer, which ended in this turn.
    std::optional<std::size_t> left_over;
    /// When its machine wakes next; what else waits in `alarms_` is old.
    std::optional<duration> alarm;
  };

  life& life_of(std::size_t number);
  /// Values from one tally to the next: of any chunk that a round may have,
  /// the length is a multiple.
  std::uint32_t tally_distance() const;
  /// Whether such a chunk begins with one: parameters are averaged as well
  /// where groups are redrawn, and have none.
  bool has_tally(const chunk_mean& x, const shared_bytes& body) const;
  /// Of a chunk's mean; not a number if nothing of the model's is as long.
  float tally_of(packing how, const shared_bytes& body) const;
  /// More actors of it failed lately than its supervisor may start again.
  bool worn_out(const life& x) const;
  void start(std::size_t number, bool keeps_disk);
  /// Continues from the checkpoint on the peer's disk, if that is sound.
  void take_up_checkpoint(const life& x, peer_config& c);
  void end_process(life& x, bool silent);
  void retire(std::size_t number, const std::string& why);
  /// Experts and calls of them, as the peer's role says (world_experts.cpp).
  void add_experts(life& x, peer_config& c);
  machine::companion caller_of(const life& x);
  bool trains() const;
  peer_config configure(life& x) const;
  void heard(std::size_t number, const event& x);
  void over(std::size_t number, const peer_over& x);

  void carry_out(const fault_event& x);
  /// Some from others, or from each other.
  void divide(const fault_event& x);
  void begin(const fault_event& x, std::size_t number);
  void end(const fault_event& x, std::size_t number);
  sim_network::line usual_line(const planned_peer& x) const;

  void touch(std::size_t number);
  /// Does `deed` in its place among what the peer asks of the network.
  void note(std::size_t number, std::function<void()> deed);
  /// Moves on to the next moment at which anything is due, `latest` at most.
  void advance(duration latest);
  /// Lets everybody do what is due now; in a crowd, until shortly before
  /// `stop`, as far as nobody can hear of anybody else's meanwhile.
  void work(duration stop);
  void wake_those_due();
  void take_turns(const std::vector<std::size_t>& numbers);
  void take_some_turns(const std::vector<std::size_t>& numbers, std::size_t at,
                       std::size_t end);
  /// Asks for the memory of the turns that follow the one `at`.
  void look_ahead(const std::vector<std::size_t>& numbers, std::size_t at,
                  std::size_t end) const;
  /// One machine's part of the present span.
  void take_turn(std::size_t number);
  void look_around();
  /// Notes whether a bound holds; `say` makes the sentence when it does not.
  template <class Say>
  void bound(bool holds, Say say) {
    judge_->of<looked_at<stays_in_bounds>>().check(holds, now_, say);
  }
  bool all_over() const;
  void close(report& result);

  scenario what_;
  options how_;
  fault_plan plan_;
  random_stream chance_;
  run_settings settings_;
  sim_network network_;
  std::unique_ptr<run_judge> judge_;
  std::shared_ptr<std::uint64_t> next_call_
      = std::make_shared<std::uint64_t>(1);
  std::vector<life> lives_;
  std::vector<address> seeds_;
  std::size_t running_ = 0;
  std::set<std::size_t> present_; ///< Those that run and are not leaving.

  duration now_{0};   ///< Where the present span begins, or a deed is done.
  duration until_{0}; ///< Where it ends: all up to then is done.
  duration turns_from_{0}; ///< The whole span, or what is left of it.
  bool in_spans_ = false;
  duration shortest_way_{0};
  crew crew_;
  /// Machines with work to do now, in order.
  std::set<std::size_t> ready_;
  using alarm = std::pair<duration, std::size_t>;
  std::priority_queue<alarm, std::vector<alarm>, std::greater<alarm>> alarms_;
  std::map<std::uint64_t, std::uint64_t> partitions_; ///< Fault to partition.
  std::vector<std::size_t> ended_; ///< Whose peers have ended by themselves.
  std::optional<duration> calm_since_;
  bool finishing_ = false; ///< Somebody has finished: nothing more begins.
  std::uint64_t messages_ = 0;
  std::size_t most_peers_ = 0;
  digest log_;
};

} // namespace potluck::simulation
