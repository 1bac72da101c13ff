/// A session: the local stand-in for one connected remote peer.
///
/// Lives as long as the connections that carry letters do, for what was on its
/// way on one that breaks is lost, and others wait for it; a second one that
/// both sides leave idle may go. A direct one takes over from circuits through
/// hubs (runtime/relay/line_order.hpp). Its end is how
/// the rest of this peer learns that the other is gone: whoever monitors it
/// gets a down message whose reason is `normal` after a goodbye and
/// `remote_link_unreachable`, with a sentence, otherwise.
#pragma once

#include <atomic>

#include "actors/handles.hpp"
#include "runtime/admission/admission_gate.hpp"
#include "runtime/membership/session_pulse.hpp"
#include "runtime/relay/held_frames.hpp"
#include "runtime/relay/line_order.hpp"
#include "runtime/strangers/letter_intake.hpp"

namespace potluck {

struct session_config {
  contact peer;
  connection_id connection = 0;
  std::shared_ptr<transport> network;
  gateway_actor gateway;
  bool relays_experts = false; ///< Calls of experts may take circuits.
  /// Whether the peer works with this one; null: it does not.
  std::shared_ptr<const std::atomic<bool>> trusted = {};
  /// What strangers' homes send; null for nobody's.
  std::shared_ptr<homes_letters> homes = {};
  /// Bytes that all sessions hold until circuits fall silent; null: this one's
  /// alone count.
  held_frames::counter held = {};
  /// Whom this peer's run admits; null: everybody.
  std::shared_ptr<admission_gate> gate = {};
  bool is_bootstrap = false; ///< The peer: it takes part in no run.
};

class session_state {
public:
  void init(session_actor::pointer self, session_config config);

  void on(const session_handles& w);
  void on(const frame_arrived& x);
  void on(const traffic_seen& x);
  void on(const connection_added& x);
  void on(const connection_closed& x);
  void on(const parcel& x);
  void on(const leave_run& x);
  void on(const tick&);
  void on_down(const caf::down_msg&);

private:
  void read(connection_id on, const incoming_frame& frame);
  /// Whether the peer may send this now; else it is not read for a while.
  bool may_be_read(connection_id on, const message& x);
  /// Once, and that its letters are dropped.
  void say_too_many();
  void read_on();
  /// Reads what was held until a circuit fell silent, if it did.
  void release();
  /// Ends the session if frames were held too long. @returns Whether it goes
  /// on.
  bool look_at_held();
  /// Gives a letter to the actor whose conversation it belongs to.
  void deliver(message content, shared_bytes body);
  void transmit(const message& content, shared_bytes body = {});
  void end(caf::exit_reason why, const std::string& reason);
  void accuse(connection_id on, const std::string& what);
  /// For people.
  void tell_fault(const std::string& what, const std::string& detail);
  /// It may not pass on a circuit, which is said once.
  void keep_off_circuits(const message& what);
  /// Wakes up when there is something to look at.
  void arm();
  /// Ends the session of a guest whose admission has ended. @returns Whether it
  /// goes on.
  bool look_at_admission();
  /// Whether the peer's admission allows this letter, from it or to it.
  bool may_pass(const message& x) const;
  void refuse(const message& x);
  void on_admission(const admission_shown& x);

  session_actor::pointer self_ = nullptr;
  session_config config_;
  session_handles wired_;
  line_order lines_;
  caf::actor_clock::time_point last_line_; ///< Was added.
  std::optional<held_frames> held_;
  bool said_no_line_ = false; ///< That a direct one is needed.
  std::optional<session_pulse> pulse_;
  std::optional<letter_intake> letters_;
  /// The tick that is on its way for the next look: a later look waits for that
  /// one, an earlier one gets another, and what comes before is old.
  caf::actor_clock::time_point wake_;
  unsigned ticks_ = 0;     ///< On their way.
  std::size_t probed_ = 0; ///< Bytes of line probes that came.
  admission_gate::standing stands_ = admission_gate::standing::open;
  bool said_outside_ = false; ///< To the peer, that it is.
  bool heard_refusal_ = false;
  bool said_too_many_ = false; ///< To the observer, that it sends these.
};

session_actor::behavior_type
session(session_actor::stateful_pointer<session_state> self,
        session_config config);

} // namespace potluck
