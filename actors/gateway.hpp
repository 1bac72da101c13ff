/// The gateway: this peer's door to the network.
///
/// Owns the transport. A connection whose `hello` is welcome belongs to the
/// session of its peer, which gets its frames from the transport's thread. A
/// round's bulk comes to no actor: that thread puts it where it belongs.
#pragma once

#include <map>
#include <memory>

#include "actors/gateway_line.hpp"
#include "actors/guest_list.hpp"
#include "actors/interfaces.hpp"
#include "actors/supervisor.hpp"
#include "runtime/averaging/round/round_intake.hpp"
#include "runtime/membership/deadline_estimator.hpp"
#include "runtime/membership/dialled_hosts.hpp"
#include "runtime/membership/hearsay_dials.hpp"
#include "runtime/membership/knock_limit.hpp"
#include "runtime/membership/own_addresses.hpp"
#include "runtime/relay/relaying_transport.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// From the connection to its hello, before any was observed: long enough for a
/// satellite line's three round trips, short enough that idle sockets cannot
/// fill the table. Then from what handshakes took, of anybody, since nobody has
/// an id yet: no less than a lost packet's repetitions take, and no more than
/// what a table full of idle sockets may cost.
constexpr auto handshake_patience = 10s;
constexpr auto handshake_floor = 5s;
constexpr auto handshake_cap = 30s;
constexpr auto handshake_check = 1s;
/// Between a dial that nobody has answered and the circuit that is tried beside
/// it: most lines that can be had at all are there by then.
constexpr auto circuit_head_start = 1s;

} // namespace potluck::limits

namespace potluck {

struct gateway_config {
  /// What this peer says first; the charter is filled in when it is known.
  hello introduction;
  address listen;
  /// Taken where `listen` leaves the port open, if it is free; 0: none.
  std::uint16_t usual_port = 0;
  std::vector<address> also_listen; ///< Others are told of the first only.
  /// Every start of the gateway gets a transport of its own.
  std::function<std::unique_ptr<transport>()> make_transport;
  supervisor_actor supervisor;
  observer_actor observer;
  /// Told of every session (see `peer_config::child_started`).
  supervisor::witness session_started;
  /// What takes a round's bulk before anybody else sees it; null for nobody.
  std::shared_ptr<round_intake> intake = {};
  /// Where other threads and actors find the sessions; null for nobody.
  std::shared_ptr<guest_list> guests = {};
  /// What this peer's clock says, in milliseconds since 1970, for people; null:
  /// that is not told.
  std::function<std::uint64_t()> wall_clock = {};
  /// Whether a hub passes no circuits on for now; null: it does.
  std::function<bool()> rests = {};
  /// Whether to see what the line carries before there is anything to send.
  bool probes_line = false;
};

class gateway_state {
public:
  void init(gateway_actor::pointer self, gateway_config config);
  ~gateway_state();

  void on(const gateway_handles& w);
  void on(const connection_accepted& x);
  void on(const connection_opened& x);
  void on(const connection_closed& x);
  void on(const frame_arrived& x);
  void on(const traffic_seen& x);
  void on(const parcel& x);
  void on(const call& x);
  void on(const dial_contact& x);
  void on(const try_to_reach& x);
  void on(const ask_for_port& x);
  void on(const reach_known& x);
  void on(const charter_known& x);
  void on(const drop_peer& x);
  void on(const windows_planned& x);
  void on(const circuits_owe&);
  void on(const leave_run& x);
  void on(const tick&);
  void on_down(const caf::down_msg& x);

private:
  /// A connection; `peer` is empty until its hello was welcome.
  struct link {
    address remote;
    bool dialled = false;
    peer_id expected; ///< Whom we meant to dial; empty when unknown.
    peer_id proven;   ///< Who is there for certain; empty when unencrypted.
    peer_id peer;
    caf::actor_clock::time_point since;
    bool late = false; ///< Closed, because nobody answered in time.
    /// Of one that is dialled only to see whether `expected` is there.
    std::optional<bool> reached = {};
    /// Of one that is dialled: what to go through if that fails.
    std::vector<contact> hubs = {};
    bool hubs_tried = false; ///< Beside the dial.
    std::uint64_t nonce = 0; ///< What it is shown then.
    peer_id asker = {};      ///< Who hears how it ended.
    /// Only its hello matters, which says how our port is seen.
    bool asks_for_port = false;
  };

  /// On to its session; a stranger's first one is looked at.
  void pass(const frame_arrived& x);
  bool is_another(const link& l, const peer_id& who) const;
  bool came_from_afar(const link& l) const;
  bool is_about_reach(connection_id id, const link& l, const message& said);
  void add(connection_id id, link fresh);
  void greet(connection_id id, const address& remote);
  void welcome(connection_id id, link& l, const hello& theirs);
  void refuse(connection_id id, const link& l, const hello& theirs,
              const std::string& sentence);
  bool is_hub() const;
  /// Where look-ups and experts' records say that it is.
  void dial_by_hearsay(const contact& who);
  void dial(const address& where, const peer_id& expected,
            std::vector<contact> hubs = {});
  /// Opens a circuit over the first of these hubs that this peer is connected
  /// with; else dials one of them first.
  void go_through(const contact& who, std::vector<contact> hubs);
  /// Those that wait for this hub go on, with or without it.
  void go_on(const peer_id& hub, bool there);
  /// Another dial to it is under way.
  bool is_on_its_way(const peer_id& who) const;
  /// A hub is being dialled, and then it is reached through that.
  bool waits_for_hub(const peer_id& who) const;
  /// Circuits beside dials that take long.
  void hurry();
  /// Of a guest's connections another set is open: a circuit, or more.
  void note_ways(const peer_id& who);
  void give_up(const address& where, const peer_id& expected,
               const std::string& reason, bool through_hub = false);
  /// Looks for connections that nobody greets on, while there may be any.
  void watch_handshakes();

  gateway_actor::pointer self_ = nullptr;
  gateway_config config_;
  std::shared_ptr<relaying_transport> network_;
  std::optional<address> bound_;
  gateway_handles wired_;
  std::map<connection_id, link> links_;
  /// Those on which nobody was welcome yet: few, where there are many.
  std::set<connection_id> strangers_;
  gateway_line line_;
  /// Sessions, and with what news of them a roster begins.
  struct guest {
    session_actor session;
    peer_joined news;
    std::set<connection_id> connections;
    bool planned = false; ///< They have a window by the round's plan.
  };
  std::map<peer_id, guest> guests_;
  own_addresses own_addresses_;
  /// By the hub that is dialled first: who is to be reached through it, or
  /// through others. A dial to that hub is under way: two that wait for each
  /// other would wait for ever.
  std::map<peer_id, std::vector<dial_contact>> through_;
  knock_limit hub_knocks_;
  hearsay_dials hearsay_; ///< Of calls.
  std::string seen_host_; ///< This peer's, as one that it dialled says.
  dialled_hosts dialled_;
  /// Messages for peers that are being dialled, a bounded number each.
  std::map<peer_id, std::vector<parcel>> waiting_;
  /// From the connection to its hello. Nobody is known before, so that all
  /// deadlines are a stranger's.
  deadline_estimator handshakes_{{limits::handshake_floor,
                                  limits::handshake_cap,
                                  limits::handshake_patience}};
  bool leaving_ = false;
  bool ticking_ = false;
};

gateway_actor::behavior_type
gateway(gateway_actor::stateful_pointer<gateway_state> self,
        gateway_config config);

} // namespace potluck
