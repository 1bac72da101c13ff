/// How the faults of a scenario befall simulated machines.
#pragma once

#include <cstdint>
#include <map>

#include "tools/lab/sim/population.hpp"

namespace potluck::simulation {

class accidents {
public:
  /// @param seed Of which actor crashes where the scenario does not say.
  accidents(std::uint64_t seed, population& peers, sim_network& network,
            turns& time, run_judge& judge);

  /// Does what the plan has due now: somebody comes, a fault begins or ends.
  void carry_out(const fault_event& x);

private:
  /// Some from others, or from each other.
  void divide(const fault_event& x);
  void begin(const fault_event& x, std::size_t number);
  void end(const fault_event& x, std::size_t number);
  /// The line as it is, with the faults that are on it.
  void draw_line(std::size_t number);
  void misbehave(const std::string& manner, std::size_t number);

  random_stream chance_;
  std::size_t moves_ = 0; ///< Of homes to other addresses.
  population& peers_;
  sim_network& network_;
  turns& time_;
  run_judge& judge_;
  std::map<std::uint64_t, std::uint64_t> partitions_; ///< By fault.
  struct lasting {
    fault_kind kind;
    double amount;
  };
  /// Of each peer, by fault.
  std::map<std::size_t, std::map<std::uint64_t, lasting>> lasting_;
};

} // namespace potluck::simulation
