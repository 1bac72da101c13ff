/// How this peer gets its lines: by dials, through hubs, through holes; and
/// connections that are made only to see who can be dialled.
///
/// A part of the gateway. It has the table of all connections, and tells
/// roster, router and hole maker what came to nothing. It knows no session, and
/// says no hello.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "actors/handles.hpp"
#include "actors/parked_calls.hpp"
#include "runtime/lines/open_punches.hpp"
#include "runtime/membership/dial_memory.hpp"
#include "runtime/relay/guest_lines.hpp"
#include "runtime/relay/hub_choice.hpp"
#include "runtime/relay/line_table.hpp"
#include "runtime/relay/relaying_transport.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at connections that nobody has greeted on.
constexpr auto handshake_check = 1s;

} // namespace potluck::limits

namespace potluck {

class line_maker {
public:
  using link = line_table::link;

  void init(gateway_actor::pointer self,
            std::shared_ptr<relaying_transport> network, const peer_id& own);
  void wire(const gateway_handles& w);

  // ---- lines that are wanted

  /// @param hubs Of whom others are tried when it fails, or takes long.
  /// @param also The same peer's other address: the one of the version of IP
  ///     that this peer is seen with is tried first.
  void dial(address where, const peer_id& expected,
            std::vector<contact> hubs = {}, address also = {});
  /// Opens a circuit over the first of these hubs that this peer is connected
  /// with; else dials one of them first.
  void go_through(const contact& who, std::vector<contact> hubs);
  /// Dials a peer that is no guest, and keeps the message until it is one.
  void call_up(const call& x);
  void try_to_reach(const potluck::try_to_reach& x);
  void ask_for_port(const contact& who);
  void punch(const punch_holes& x);

  // ---- what becomes of them

  /// Null: it is none any more.
  const link* find(connection_id id) const {
    return links_.find(id);
  }
  bool none() const {
    return links_.size() == 0;
  }
  /// Whether it may stay. Then, and where `opened` says so, a hello is due.
  bool accepted(const connection_accepted& x);
  bool opened(const connection_opened& x);
  /// What it was, if anything.
  std::optional<link> closed(const connection_closed& x);
  /// Of the first message on a connection, whether that was all that it is for:
  /// it is closed.
  bool is_about_reach(connection_id id, const message& said);
  /// Whether we dialled somebody else. Ourselves is a case of its own.
  bool is_another(const link& l, const peer_id& who) const {
    return line_table::is_another(l, who, own_);
  }
  /// Closes a connection on which another peer answers than was dialled.
  void missed(connection_id id, const peer_id& who);
  /// Whether that they could connect shows that others can.
  bool came_from_afar(const link& l) const {
    return !l.dialled && memory_.proves_something(l.remote.host, now());
  }
  /// This peer itself has answered its dial.
  void dialled_self(const link& l);
  /// Their hello was welcome. @returns The messages that waited for them.
  std::vector<parcel> welcome(connection_id id, const hello& theirs);

  // ---- guests: peers that were welcome, until they have parted

  bool has(const peer_id& who) const {
    return guests_.has(who);
  }
  /// A guest's connections.
  const std::set<connection_id>& of(const peer_id& who) const {
    return guests_.of(who);
  }
  /// Whether a hub is all that leads to a guest.
  bool only_circuits_to(const peer_id& who) const {
    return guests_.only_circuits_to(who);
  }
  /// Closes a guest's connections.
  void parted(const peer_id& who);

  /// No line is made any more, and those of strangers close.
  void leave();
  bool leaving() const {
    return leaving_;
  }
  /// Looks after connections that nobody has greeted on; called by a tick.
  void look();

private:
  time_point now() const {
    return self_->clock().now();
  }
  bool full() const {
    return leaving_ || links_.size() >= most_connections;
  }
  void add(connection_id id, link fresh);
  void dial(link fresh);
  /// Where look-ups and experts' records say that it is.
  void dial_by_hearsay(const contact& who);
  /// What waited for a line to that peer is not sent any more; nobody waits for
  /// answers of its experts.
  void drop_waiting(const peer_id& who);
  void give_up(const address& where, const peer_id& expected,
               const std::string& reason, bool through_hub = false);
  /// Those that wait for this hub go on, with or without it.
  void go_on(const peer_id& hub, bool there);
  /// The other address, and circuits, beside dials that take long.
  void hurry();
  /// Dials the other address that such a link has, if there is one.
  bool dial_other(link& x);
  void watch();

  gateway_actor::pointer self_ = nullptr;
  std::shared_ptr<relaying_transport> network_;
  peer_id own_;
  roster_actor roster_;
  router_actor router_;
  letter_reader expert_caller_;
  punches_listener hole_maker_;
  line_table links_;
  guest_lines guests_;
  dial_memory memory_;
  hub_choice hubs_;
  parked_calls parked_;
  open_punches punches_;
  bool leaving_ = false;
  bool ticking_ = false;
};

} // namespace potluck
