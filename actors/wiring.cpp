#include "actors/wiring.hpp"

namespace potluck {

gateway_handles wiring::for_gateway() const {
  return {roster, router, hole_maker, conductor, for_sessions()};
}

session_handles wiring::for_sessions() const {
  letter_reader charters = registrar;
  if (!charters)
    charters = charter_shelf;
  letter_reader admission = admission_keeper;
  if (!admission)
    admission = authority;
  return {roster,           router,         charters,    artifact_keeper,
          state_keeper,     cell,           matchmaking, averager,
          expert_host,      expert_caller,  hole_maker,  admission,
          amendment_keeper, history_keeper, observer};
}

roster_handles wiring::for_roster() const {
  return {gateway,
          router,
          address_keeper,
          charter_shelf,
          hole_maker,
          registrar,
          admission_keeper,
          authority,
          artifact_keeper,
          state_keeper,
          cell,
          conductor,
          matchmaking,
          averager,
          expert_host,
          expert_caller,
          amendment_keeper,
          history_keeper,
          beside,
          observer};
}

router_handles wiring::for_router() const {
  return {gateway, roster, observer};
}

address_keeper_handles wiring::for_address_keeper() const {
  return {roster, router, observer};
}

charter_shelf_handles wiring::for_charter_shelf() const {
  return {letters(), amendment_keeper, observer};
}

admission_handles wiring::for_admission_keeper() const {
  return {letters(), gateway, router, observer, supervisor};
}

authority_handles wiring::for_authority() const {
  return {letters(), observer};
}

hole_maker_handles wiring::for_hole_maker() const {
  return {letters(), gateway, observer};
}

registrar_handles wiring::for_registrar() const {
  return {letters(), gateway, roster, observer, supervisor};
}

artifact_keeper_handles wiring::for_artifact_keeper() const {
  return {letters(), observer, supervisor};
}

state_keeper_handles wiring::for_state_keeper() const {
  return {letters(), compute, conductor, observer};
}

compute_handles wiring::for_compute() const {
  return {conductor, averager, state_keeper};
}

cell_handles wiring::for_cell() const {
  return {letters(), roster, state_keeper, conductor, observer};
}

conductor_handles wiring::for_conductor() const {
  return {roster,      state_keeper, compute,        cell,
          matchmaking, averager,     history_keeper, observer};
}

matchmaking_handles wiring::for_matchmaking() const {
  return {letters(), cell, conductor, averager, observer};
}

averager_handles wiring::for_averager() const {
  return {letters(),   gateway,  roster,    conductor,
          matchmaking, observer, supervisor};
}

expert_host_handles wiring::for_expert_host() const {
  return {letters(),
          roster,
          router,
          expert_caller,
          observer,
          supervisor,
          for_expert_replicator()};
}

expert_replicator_handles wiring::for_expert_replicator() const {
  return {letters(), gateway, roster, router, observer};
}

expert_caller_handles wiring::for_expert_caller() const {
  return {gateway, roster, router, expert_host};
}

history_keeper_handles wiring::for_history_keeper() const {
  return {letters(), conductor, observer};
}

amendment_keeper_handles wiring::for_amendment_keeper() const {
  return {letters(), gateway, roster, observer, supervisor};
}

} // namespace potluck
