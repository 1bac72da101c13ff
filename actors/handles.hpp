/// Whom each actor may talk to: a struct of its own, which the supervisor sends
/// again after every restart (actors/wiring.hpp).
///
/// Those that do not exist yet, or not in this peer's role, are null.
#pragma once

#include <memory>

#include "actors/interfaces.hpp"

namespace potluck {

class guest_list;

/// Where letters to connected peers go (`post` in guest_list.hpp).
struct letterbox {
  parcel_carrier gateway;
  /// Kept by the gateway; null where there is none.
  std::shared_ptr<guest_list> guests;
};

/// Whose conversations the letters of a peer belong to.
struct session_handles {
  roster_actor roster;
  letter_reader router;
  letter_reader registrar; ///< A bootstrap's: the charter shelf.
  letter_reader artifact_keeper;
  letter_reader state_keeper;
  letter_reader cell;
  letter_reader matchmaking;
  letter_reader averager;
  letter_reader expert_host;
  letter_reader expert_caller;
  letter_reader hole_maker;
  letter_reader admission; ///< Or the authority.
  letter_reader amendment_keeper;
  letter_reader history_keeper;
  observer_actor observer;
};

struct gateway_handles {
  roster_actor roster;
  router_actor router;
  punches_listener hole_maker;
  conductor_actor conductor;
  session_handles sessions; ///< For each of them.
};

struct roster_handles {
  gateway_actor gateway;
  router_actor router;
  address_keeper_actor address_keeper;
  peers_listener charter_shelf;
  hole_maker_actor hole_maker;
  registrar_actor registrar;
  peers_listener admission_keeper;
  peers_listener authority;
  peers_listener artifact_keeper;
  peers_listener state_keeper;
  cell_actor cell;
  conductor_actor conductor;
  peers_listener matchmaking;
  peers_listener averager;
  expert_host_door expert_host;
  peers_listener expert_caller;
  peers_listener amendment_keeper;
  peers_listener history_keeper;
  companion_actor beside; ///< Of the application (`peer_config::beside`).
  observer_actor observer;
};

struct router_handles {
  gateway_actor gateway;
  roster_actor roster;
  observer_actor observer;
};

struct address_keeper_handles {
  roster_actor roster;
  record_finder router;
  observer_actor observer;
};

struct charter_shelf_handles {
  letterbox letters;
  amendment_keeper_actor amendment_keeper;
  observer_actor observer;
};

struct admission_handles {
  letterbox letters;
  gateway_actor gateway;
  record_finder router;
  observer_actor observer;
  supervisor_actor supervisor;
};

struct amendment_keeper_handles {
  letterbox letters;
  gateway_actor gateway;
  offence_reader roster;
  observer_actor observer;
  supervisor_actor supervisor;
};

struct history_keeper_handles {
  letterbox letters;
  conductor_actor conductor;
  observer_actor observer;
};

struct authority_handles {
  letterbox letters;
  observer_actor observer;
};

struct hole_maker_handles {
  letterbox letters;
  gateway_actor gateway;
  observer_actor observer;
};

struct registrar_handles {
  letterbox letters;
  gateway_actor gateway;
  roster_actor roster;
  observer_actor observer;
  supervisor_actor supervisor;
};

struct artifact_keeper_handles {
  letterbox letters;
  observer_actor observer;
  supervisor_actor supervisor;
};

struct state_keeper_handles {
  letterbox letters;
  compute_actor compute;
  conductor_actor conductor;
  observer_actor observer;
};

struct compute_handles {
  conductor_actor conductor;
  gradient_borrower averager;
  state_keeper_actor state_keeper;
};

struct cell_handles {
  letterbox letters;
  roster_actor roster;
  state_keeper_actor state_keeper;
  conductor_actor conductor;
  observer_actor observer;
};

struct conductor_handles {
  roster_actor roster;
  state_keeper_actor state_keeper;
  compute_actor compute;
  cell_actor cell;
  matchmaking_actor matchmaking;
  averager_actor averager;
  history_keeper_actor history_keeper;
  observer_actor observer;
};

struct matchmaking_handles {
  letterbox letters;
  cell_actor cell;
  conductor_actor conductor;
  averager_actor averager;
  observer_actor observer;
};

struct averager_handles {
  letterbox letters;
  gateway_actor gateway;
  offence_reader roster;
  conductor_actor conductor;
  matchmaking_actor matchmaking;
  observer_actor observer;
  supervisor_actor supervisor;
};

struct expert_replicator_handles {
  letterbox letters;
  gateway_actor gateway;
  offence_reader roster;
  record_finder router;
  observer_actor observer;
};

struct expert_host_handles {
  letterbox letters;
  offence_reader roster;
  record_finder router;
  letter_reader expert_caller;
  observer_actor observer;
  supervisor_actor supervisor;
  expert_replicator_handles replicator; ///< For this host's.
};

struct expert_caller_handles {
  gateway_actor gateway;
  offence_reader roster;
  record_finder router;
  letter_reader expert_host;
};

} // namespace potluck

POTLUCK_LOCAL_MESSAGE(session_handles)
POTLUCK_LOCAL_MESSAGE(gateway_handles)
POTLUCK_LOCAL_MESSAGE(roster_handles)
POTLUCK_LOCAL_MESSAGE(router_handles)
POTLUCK_LOCAL_MESSAGE(address_keeper_handles)
POTLUCK_LOCAL_MESSAGE(charter_shelf_handles)
POTLUCK_LOCAL_MESSAGE(admission_handles)
POTLUCK_LOCAL_MESSAGE(authority_handles)
POTLUCK_LOCAL_MESSAGE(hole_maker_handles)
POTLUCK_LOCAL_MESSAGE(registrar_handles)
POTLUCK_LOCAL_MESSAGE(amendment_keeper_handles)
POTLUCK_LOCAL_MESSAGE(history_keeper_handles)
POTLUCK_LOCAL_MESSAGE(artifact_keeper_handles)
POTLUCK_LOCAL_MESSAGE(state_keeper_handles)
POTLUCK_LOCAL_MESSAGE(compute_handles)
POTLUCK_LOCAL_MESSAGE(cell_handles)
POTLUCK_LOCAL_MESSAGE(conductor_handles)
POTLUCK_LOCAL_MESSAGE(matchmaking_handles)
POTLUCK_LOCAL_MESSAGE(averager_handles)
POTLUCK_LOCAL_MESSAGE(expert_replicator_handles)
POTLUCK_LOCAL_MESSAGE(expert_host_handles)
POTLUCK_LOCAL_MESSAGE(expert_caller_handles)
