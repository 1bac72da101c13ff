/// The gateway: this peer's door to the network.
///
/// Owns the transport, the `line_maker` that gets connections, and the guests.
/// A connection whose `hello` is welcome belongs to the session of its peer,
/// which gets its frames from the transport's thread. A round's bulk comes to
/// no actor: that thread puts it where it belongs.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "actors/gateway_guests.hpp"
#include "actors/guest_list.hpp"
#include "actors/handles.hpp"
#include "actors/line_maker.hpp"
#include "actors/supervisor.hpp"
#include "runtime/admission/admission_gate.hpp"
#include "runtime/averaging/round/round_intake.hpp"
#include "runtime/relay/relaying_transport.hpp"

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
  /// Whom this peer's run admits; null: everybody.
  std::shared_ptr<admission_gate> gate = {};
  /// What this peer's clock says, in milliseconds since 1970, for people; null:
  /// that is not told.
  std::function<std::uint64_t()> wall_clock = {};
  /// Whether a hub passes no circuits on for now; null: it does.
  std::function<bool()> rests = {};
  /// Calls of experts may take circuits.
  bool relays_experts = false;
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
  void on(const punch_holes& x);
  void on(const reach_known& x);
  void on(const charter_known& x);
  void on(const bans_known& x);
  void on(const drop_peer& x);
  void on(const no_strangers& x) {
    guests_.on(x);
  }
  void on(const admission_news& x) {
    guests_.on(x);
  }
  void on(const windows_planned& x) {
    guests_.on(x);
  }
  void on(const circuits_owe&);
  void on(const leave_run& x);
  void on(const tick&);
  void on_down(const caf::down_msg& x);

private:
  using link = line_maker::link;
  /// On to its session; a stranger's first one is looked at.
  void pass(const frame_arrived& x);
  void greet(connection_id id, const address& remote);
  void refuse(connection_id id, const link& l, const hello& theirs,
              const std::string& sentence);
  bool is_hub() const;
  /// By the organiser of its run.
  bool is_banned(const peer_id& who, const std::string& run) const;

  gateway_actor::pointer self_ = nullptr;
  gateway_config config_;
  std::shared_ptr<relaying_transport> network_;
  std::optional<address> bound_;
  std::vector<address> local_; ///< What it listens on, as own addresses.
  gateway_handles wired_;
  line_maker links_;
  gateway_guests guests_;
  std::map<std::string, std::set<peer_id>> banned_; ///< By run.
};

gateway_actor::behavior_type
gateway(gateway_actor::stateful_pointer<gateway_state> self,
        gateway_config config);

} // namespace potluck
