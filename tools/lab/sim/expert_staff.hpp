/// Hosts of experts among the simulated peers, and their callers.
#pragma once

#include <map>
#include <memory>

#include "tools/lab/judge/expert_promises.hpp"
#include "tools/lab/sim/expert_parts.hpp"
#include "tools/lab/sim/machine.hpp"

namespace potluck::simulation {

/// Whether anybody of it hosts or calls experts.
bool has_experts(const scenario& what);

class expert_staff {
public:
  /// @param now The simulation's clock.
  expert_staff(const scenario& what, const fault_plan& plan,
               sound_experts& judge, std::function<duration()> now);

  /// Gives a peer experts or calls of them, as its role says. Returns its
  /// caller, to be spawned beside it; null for others.
  /// @param life How often the peer has been started.
  machine::companion equip(const scripted_peer& x, std::uint64_t life,
                           peer_config& c);

  /// Its disk is another: what was on its shelves is gone.
  void forget(std::size_t number);

private:
  expert_hosting hosting_of(std::size_t number);
  machine::companion caller_of(std::shared_ptr<expert_client> client,
                               std::uint64_t seed) const;

  const scenario& what_;
  const fault_plan& plan_;
  sound_experts& judge_;
  std::function<duration()> now_;
  std::map<std::size_t, expert_shelves> shelves_; ///< By number of the host.
  std::map<std::size_t, std::shared_ptr<expert_client>> clients_;
  std::shared_ptr<std::uint64_t> next_call_
      = std::make_shared<std::uint64_t>(1);
};

} // namespace potluck::simulation
