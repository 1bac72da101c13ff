/// Everybody's handles, which the supervisor alone has, and what of them it
/// gives to each actor.
#pragma once

#include "actors/handles.hpp"

namespace potluck {

/// Those that do not exist yet (or in this role) are null.
struct wiring {
  gateway_actor gateway;
  roster_actor roster;
  router_actor router;
  address_keeper_actor address_keeper;
  charter_shelf_actor charter_shelf; ///< A bootstrap's.
  hole_maker_actor hole_maker;       ///< Of all others.
  admission_keeper_actor admission_keeper;
  authority_actor authority;
  registrar_actor registrar;
  artifact_keeper_actor artifact_keeper;
  state_keeper_actor state_keeper;
  compute_actor compute;
  cell_actor cell;
  conductor_actor conductor;
  matchmaking_actor matchmaking;
  averager_actor averager;
  expert_host_door expert_host;
  expert_caller_door expert_caller;
  amendment_keeper_actor amendment_keeper;
  history_keeper_actor history_keeper;
  companion_actor beside; ///< Of the application.
  observer_actor observer;
  supervisor_actor supervisor;
  std::shared_ptr<guest_list> guests;

  gateway_handles for_gateway() const;
  session_handles for_sessions() const;
  roster_handles for_roster() const;
  router_handles for_router() const;
  address_keeper_handles for_address_keeper() const;
  charter_shelf_handles for_charter_shelf() const;
  hole_maker_handles for_hole_maker() const;
  admission_handles for_admission_keeper() const;
  authority_handles for_authority() const;
  registrar_handles for_registrar() const;
  artifact_keeper_handles for_artifact_keeper() const;
  state_keeper_handles for_state_keeper() const;
  compute_handles for_compute() const;
  cell_handles for_cell() const;
  conductor_handles for_conductor() const;
  matchmaking_handles for_matchmaking() const;
  averager_handles for_averager() const;
  expert_host_handles for_expert_host() const;
  expert_replicator_handles for_expert_replicator() const;
  expert_caller_handles for_expert_caller() const;
  amendment_keeper_handles for_amendment_keeper() const;
  history_keeper_handles for_history_keeper() const;

  letterbox letters() const {
    return {gateway, guests};
  }
};

/// Has `send` give everybody who is there the own handles. Compute and roster
/// come last: they answer with what they know, which the others must be ready
/// for.
template <class Send>
void hand_out(const wiring& w, Send send) {
  auto tell = [&](const auto& actor, const auto& handles) {
    if (actor)
      send(actor, handles);
  };
  tell(w.gateway, w.for_gateway());
  tell(w.router, w.for_router());
  tell(w.address_keeper, w.for_address_keeper());
  tell(w.amendment_keeper, w.for_amendment_keeper());
  tell(w.history_keeper, w.for_history_keeper());
  tell(w.charter_shelf, w.for_charter_shelf());
  tell(w.hole_maker, w.for_hole_maker());
  tell(w.admission_keeper, w.for_admission_keeper());
  tell(w.authority, w.for_authority());
  tell(w.registrar, w.for_registrar());
  tell(w.artifact_keeper, w.for_artifact_keeper());
  tell(w.state_keeper, w.for_state_keeper());
  tell(w.cell, w.for_cell());
  tell(w.matchmaking, w.for_matchmaking());
  tell(w.averager, w.for_averager());
  tell(w.conductor, w.for_conductor());
  tell(w.expert_host, w.for_expert_host());
  tell(w.expert_caller, w.for_expert_caller());
  tell(w.compute, w.for_compute());
  tell(w.roster, w.for_roster());
}

} // namespace potluck
