/// The sessions of connected peers, and what the others have heard of each.
///
/// A part of the roster. A peer has one seat. When it comes back before its old
/// session has ended, the new session takes the seat, and the old one's end is
/// no news. Who may come is not decided here.
#pragma once

#include <map>
#include <optional>

#include "actors/interfaces.hpp"

namespace potluck {

class seats {
public:
  /// A guest's session, and what others heard of it.
  struct seat {
    peer_joined news;
    session_actor session;
    bool unneeded = false; ///< This peer parts with it.
  };

  enum class arrival {
    fresh,   ///< This session has no seat.
    again,   ///< It has one, which has the news now.
    changed, ///< It had one in another role, which is free now.
  };
  /// The gateway says so of a session.
  arrival arrives(const peer_joined& x, const session_actor& session);
  /// The session's peer may stay.
  void take(const peer_joined& x, const session_actor& session);
  /// This peer parts with a guest. Throws std::out_of_range when it is none.
  void is_unneeded(const peer_id& who) {
    all_.at(who).unneeded = true;
  }
  /// A session is over. @returns The seat that it leaves, if it had one.
  std::optional<seat> ended(const caf::actor_addr& session);

  bool empty() const {
    return all_.empty();
  }
  /// Throws std::out_of_range when that is no guest.
  const seat& at(const peer_id& who) const {
    return all_.at(who);
  }
  const std::map<peer_id, seat>& all() const {
    return all_;
  }

private:
  std::map<peer_id, seat> all_;
  /// Whose each session is or was: one may outlast its seat.
  std::map<caf::actor_addr, peer_id> sessions_;
};

} // namespace potluck
