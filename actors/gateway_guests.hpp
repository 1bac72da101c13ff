/// The gateway's guests: peers that were welcome, their sessions, and what is
/// told of them.
///
/// A part of the gateway, which says who is welcome. A guest has one session,
/// however many connections. One whose admission does not count is told of as
/// a node of the DHT, and no more.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/gateway_line.hpp"
#include "actors/guest_list.hpp"
#include "actors/handles.hpp"
#include "actors/line_maker.hpp"
#include "actors/supervisor.hpp"
#include "runtime/admission/admission_gate.hpp"
#include "runtime/relay/held_frames.hpp"
#include "runtime/strangers/letter_allowance.hpp"
#include "runtime/strangers/partners.hpp"

namespace potluck {

class gateway_guests {
public:
  struct settings {
    peer_id own;
    observer_actor observer;
    /// See `gateway_config`.
    supervisor::witness session_started;
    std::shared_ptr<guest_list> guests;
    std::shared_ptr<admission_gate> gate;
    std::function<std::uint64_t()> wall_clock;
    bool relays_experts = false;
    bool probes_line = false;
  };

  /// @param links Outlives this.
  void init(gateway_actor::pointer self, settings how,
            std::shared_ptr<relaying_transport> network, line_maker& links);
  void wire(const gateway_handles& w);

  // ---- how they come and go

  /// A hello was welcome on this connection.
  void welcome(connection_id id, const line_maker::link& l,
               const hello& theirs);
  /// A connection with this peer has ended, or one more has come: other lines
  /// may lead to it.
  void note_ways(const peer_id& who);
  /// Whether a session has ended.
  void ended(const caf::actor_addr& session);

  // ---- who is there

  bool has(const peer_id& who) const {
    return guests_.count(who) > 0;
  }
  /// Nothing but circuits leads to this guest.
  bool relayed(const peer_id& who) const {
    auto g = guests_.find(who);
    return g != guests_.end() && g->second.news.relayed;
  }
  /// Sends this to the session of a guest. @return Whether it is one.
  template <class Message>
  bool tell(const peer_id& who, const Message& x) {
    auto g = guests_.find(who);
    if (g == guests_.end())
      return false;
    self_->send(g->second.session, x);
    return true;
  }
  template <class Message>
  void tell_all(const Message& x) {
    for (auto& [id, g] : guests_)
      self_->send(g.session, x);
  }
  /// Has those leave for which `job(id, run)` says so.
  template <class Job>
  void dismiss(Job job, const leave_run& x) {
    for (auto& [id, g] : guests_)
      if (job(id, g.news.run))
        self_->send(g.session, x);
  }

  // ---- what is news of them

  void on(const admission_news& x);
  void on(const no_strangers& x);
  void on(const windows_planned& x);
  void on(const traffic_seen& x);

private:
  /// Sessions, and with what news of them a roster begins.
  struct guest {
    session_actor session;
    peer_joined news;
    bool planned = false;    ///< They have a window by the round's plan.
    potluck::role role = {}; ///< Its own, whatever the news say.
    bool is_hub = false;     ///< Likewise.
    std::shared_ptr<std::atomic<bool>> trusted = {}; ///< Is a partner.
  };

  /// What its first line, or its first direct one, shows of it.
  void note(guest& g, const line_maker::link& l, const hello& theirs,
            bool circuit) const;
  void begin_session(guest& g, connection_id id, const hello& theirs);
  /// Shows an admission to the gate, and says so where it does not count.
  void show(const hello& theirs);
  /// Has the news of a guest say what its admission makes of it. @returns
  /// Whether that is new.
  bool note_standing(const peer_id& who, guest& g) const;
  void tell_roster(const guest& g);

  gateway_actor::pointer self_ = nullptr;
  settings how_;
  std::shared_ptr<relaying_transport> network_;
  line_maker* links_ = nullptr;
  roster_actor roster_;
  session_handles sessions_; ///< For each of them.
  gateway_line line_;
  std::map<peer_id, guest> guests_;
  partners partners_;
  std::shared_ptr<homes_letters> homes_ = std::make_shared<homes_letters>();
  held_frames::counter held_ = std::make_shared<std::atomic<std::size_t>>(0);
};

} // namespace potluck
