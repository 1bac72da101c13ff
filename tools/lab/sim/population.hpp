/// The simulated peers over all their lives: starts, ends and counts them.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/state/charter.hpp"
#include "tools/lab/judge/run_judge.hpp"
#include "tools/lab/sim/address_plan.hpp"
#include "tools/lab/sim/closed_run.hpp"
#include "tools/lab/sim/expert_staff.hpp"
#include "tools/lab/sim/memory_pieces.hpp"
#include "tools/lab/sim/sim_disk.hpp"
#include "tools/lab/sim/turns.hpp"

namespace potluck::simulation {

/// A peer over all its lives.
struct inhabitant {
  std::unique_ptr<machine> box;
  std::unique_ptr<sim_disk> disk;
  std::shared_ptr<memory_pieces> pieces; ///< What a hub's disk has besides.
  peer_id id;
  std::string host; ///< Its machine's: a private one behind a router.
  std::uint64_t lives = 0;
  duration started{0};   ///< Of its present life.
  bool newcomer = false; ///< The others had made a step before.
  bool honest = true;
  bool leaving = false;
  std::vector<duration> crashes; ///< When actors were made to fail.
};

class population {
public:
  /// What is alike for all peers of a simulation.
  struct customs {
    std::uint64_t seed = 1;
    run_settings settings;
    bool weightless = false;  ///< Computing is its duration alone.
    bool all_compute = false; ///< Nobody rests.
    bool strangers = true;    ///< Else their machines do nothing.
    bool rare_paths = false;  ///< By fault points.
    safeguard_set guards;
    std::function<void(std::size_t number, const event&)> told;
    std::function<void(std::size_t number, const peer_over&)> over;
  };

  population(const scenario& what, const fault_plan& plan, customs how,
             sim_network& network, turns& time, run_judge& judge,
             expert_staff& experts);
  /// Ends all that run, at once.
  ~population();

  /// By number; one that was never there before is made, but does not run.
  inhabitant& at(std::size_t number);
  const std::vector<inhabitant>& all() const {
    return all_;
  }
  const peer_group& group_of(std::size_t number) const {
    return what_.groups[plan_.peers()[number].group];
  }

  /// Peers that run, and those of them that are not leaving.
  std::size_t running() const {
    return running_;
  }
  const std::set<std::size_t>& present() const {
    return present_;
  }
  /// Keys that strangers have, all together.
  std::size_t strange_keys() const;
  std::size_t most_at_a_time() const {
    return most_;
  }

  /// Without effect when it runs.
  void start(std::size_t number, bool keeps_disk);
  /// Its process ends at once. @param silent Nobody is told.
  void end(std::size_t number, bool silent);
  /// It is asked to leave in order.
  void retire(std::size_t number, const std::string& why);

private:
  /// Makes the run a created one that the first bootstrap admits peers to.
  void close_run();
  void settle_in(std::size_t number, inhabitant& x, bool keeps_disk);
  /// In milliseconds, as on that machine.
  std::uint64_t wall_clock(const machine& box) const;
  peer_config configure(const inhabitant& x) const;
  void start_peer(inhabitant& x);
  /// As the machine of somebody who is not of the run.
  void start_stranger(inhabitant& x);
  /// Continues from the checkpoint on the peer's disk, if that is sound.
  void take_up_checkpoint(const inhabitant& x, peer_config& c);
  /// Likewise of whom it met.
  void take_up_addresses(const inhabitant& x, peer_config& c);

  const scenario& what_;
  const fault_plan& plan_;
  customs how_;
  sim_network& network_;
  turns& time_;
  run_judge& judge_;
  expert_staff& experts_;
  address_plan addresses_;
  std::vector<inhabitant> all_;
  std::unique_ptr<closed_run> closed_; ///< Null: everybody is admitted.
  std::size_t running_ = 0;
  std::set<std::size_t> present_;
  std::size_t most_ = 0;
};

} // namespace potluck::simulation
