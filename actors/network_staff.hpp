/// The children that a peer has before its run's charter: those that find
/// others, and that keep something for later or for others.
#pragma once

#include "actors/staff.hpp"

namespace potluck {

class network_staff : private staff {
public:
  using staff::staff;

  /// Those that a peer of its role has.
  void start();
  /// A bootstrap has it from the start, others when they train.
  void start_history_keeper();

private:
  void start_address_keeper();
  void start_amendment_keeper();
  void start_charter_shelf();
  void start_hole_maker();
  void start_admission_keeper();
  void start_authority();
  void start_experts();
  void start_registrar();
};

} // namespace potluck
