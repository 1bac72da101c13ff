/// What gateway, sessions and roster say to each other of connections, and
/// everybody's letters to other peers (actors/mailbox.hpp has the other
/// messages).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "messages/message.hpp"
#include "runtime/ports/transport.hpp"

namespace potluck {

// ---- transport to gateway ---------------------------------------------------

struct connection_accepted {
  connection_id id = 0;
  address remote;
  peer_id proven; ///< Empty: the transport encrypts nothing.
};
struct connection_opened {
  connection_id id = 0;
  address remote;
  peer_id proven; ///< Likewise.
};
struct connection_closed {
  connection_id id = 0;
  std::string reason;
};
struct frame_arrived {
  connection_id id = 0;
  incoming_frame frame;
};
/// What passed on all connections; see `transport_listener::on_traffic`.
struct traffic_seen {
  duration interval{0};
  std::vector<connection_traffic> traffic;
};

// ---- post: between actors and remote peers ----------------------------------

/// A verified message from a connected peer.
struct letter {
  peer_id from;
  message content;
  shared_bytes body;
};
/// A message to a connected peer. To anybody else it is dropped: who sends it
/// hears of lost peers through `peer_left`.
struct parcel {
  peer_id to;
  message content;
  shared_bytes body;
};
/// A message to a peer that may have to be dialled first.
struct call {
  contact to;
  message content;
  shared_bytes body;
};
/// Dial a peer, or an address whose peer is not known yet (an empty id).
struct dial_contact {
  contact who; ///< Without an address: through a hub alone.
  /// Which pass circuits on to it: what is tried when the address fails, or
  /// takes long.
  std::vector<contact> hubs = {};
  /// Where it says it listens, too; an empty host: nowhere.
  address also = {};
};
/// The transport to gateway: ends of circuits wait for credit.
struct circuits_owe {};
/// Roster to gateway: see whether this peer can be dialled there, show it the
/// number, and tell whoever asks.
struct try_to_reach {
  contact who;
  std::uint64_t nonce = 0;
  peer_id asker; ///< That peer, or one that is sent by it.
};
/// Gateway to roster: a connection came that carries a question's number.
struct reach_proven {
  std::uint64_t nonce = 0;
  std::string host;      ///< From where.
  bool new_host = false; ///< This peer had never dialled it.
};
/// Roster to gateway: dial this peer from the port that is listened on, hear
/// how it sees that, and close.
struct ask_for_port {
  contact who;
};
/// Gateway to roster: that is how.
struct port_seen {
  address as;
  std::string by; ///< The host that says so.
  /// And where that port is within this peer's house.
  std::vector<address> local = {};
};
/// A port mapper to the roster (runtime/ports/port_mapper.hpp).
struct port_mapped {
  address outside;     ///< As the router says; port 0: there is none.
  std::string problem; ///< A sentence, if that failed.
};
/// Roster to whom it concerns: whether others can connect to this peer.
struct reach_known {
  bool reachable = true;
  std::uint16_t port = 0; ///< That they dial; 0: the one that is bound.
  reach kind = reach::unknown;
  /// Where others see the port that it listens on, when it dials from there;
  /// and that port within its house. Empty where none of them has said.
  std::vector<address> outside = {};
  std::vector<address> local = {};

  friend bool operator==(const reach_known& a, const reach_known& b) {
    return a.reachable == b.reachable && a.port == b.port && a.kind == b.kind
           && a.outside == b.outside && a.local == b.local;
  }
};
/// Hole maker to gateway: punch these for a peer that only circuits lead to
/// (`transport::punch`).
struct punch_holes {
  peer_id who;
  std::uint64_t attempt = 0;
  std::vector<address> at;
  bool begins = false; ///< The encryption.
};
/// Gateway to hole maker: every punch of it has ended, none with that peer.
struct punches_failed {
  peer_id who;
  std::uint64_t attempt = 0;
};
/// Matchmaking to cell: these trainers average without this peer, which has no
/// line of its own to whoever could.
struct averaged_without_us {
  std::vector<peer_id> members;
};
/// A connection that we dialled is open and greeted.
struct dial_succeeded {
  address where;
  peer_id who;
};
/// A dial came to nothing.
struct dial_failed {
  address where;
  peer_id expected; ///< Empty when only the address was known.
  std::string reason;
  bool through_hub = false; ///< A hub was tried, too.
};
/// The gateway listens on `bound`; its host may stand for any interface.
struct gateway_ready {
  address bound;
  /// That and whatever else it listens on, as this machine's own addresses.
  std::vector<address> local = {};
};
/// Another connection to a session's peer.
struct connection_added {
  connection_id id = 0;
};
/// Say goodbye to everybody and close.
struct leave_run {
  std::string reason;
};
/// End the session with this peer.
struct drop_peer {
  peer_id id;
  std::string reason;
};
/// These work with this peer: limits on strangers (runtime/strangers) are not
/// for them, now and later.
struct no_strangers {
  std::vector<peer_id> ids;
};
/// How much may be under way to members of the round, by its plan
/// (runtime/planning/planned_windows.hpp). Replaces what was planned before.
struct windows_planned {
  std::vector<std::pair<peer_id, planned_window>> windows;
};

} // namespace potluck
