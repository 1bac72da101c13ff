/// The children that a peer has before its run's charter: those that find
/// others, and that keep something for later or for others.
#pragma once

#include "actors/peer_estate.hpp"
#include "actors/supervisor.hpp"

namespace potluck {

class network_staff {
public:
  /// Both outlive this.
  network_staff(supervisor_actor::pointer self, peer_estate& has,
                supervisor& children)
      : self_(self), has_(has), children_(children) {
  }

  /// Those that a peer of its role has.
  void start();
  /// A bootstrap has it from the start, others when they train.
  void start_history_keeper();
  /// The gateway's present address: its end is the peer's, when that leaves.
  const caf::actor_addr& gateway() const {
    return gateway_;
  }

private:
  void start_address_keeper();
  void start_amendment_keeper();
  void start_charter_shelf();
  void start_hole_maker();
  void start_admission_keeper();
  void start_authority();
  void start_experts();
  void start_registrar();

  supervisor_actor::pointer self_;
  peer_estate& has_;
  supervisor& children_;
  caf::actor_addr gateway_;
};

} // namespace potluck
