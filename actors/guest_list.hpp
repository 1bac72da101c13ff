/// Who is connected, for other threads than the gateway's, which keeps it.
///
/// The transport's thread finds the session of a connection, and whoever writes
/// to a peer finds its session, so that neither frames nor letters have to pass
/// the gateway. A session that has ended takes nothing any more. Thread-safe.
#pragma once

#include <map>
#include <mutex>

#include "actors/handles.hpp"

namespace potluck {

class guest_list {
public:
  // ---- the gateway

  /// A connection is welcome, and belongs to a session.
  void add(connection_id id, const peer_id& who, session_actor session);
  void remove(connection_id id);
  /// A frame that had to pass the gateway did.
  void passed(connection_id id);
  /// The peer's session has ended.
  void ended(const peer_id& who);
  void clear();

  // ---- the transport's thread

  /// Whose connection it is; empty when nobody is known to be there.
  peer_id at(connection_id id) const;
  /// The session that the next frame may go to at once. None: it has to pass
  /// the gateway, as long as that has others of the connection, lest it
  /// overtakes them.
  session_actor straight_to(connection_id id);

  // ---- whoever writes to a peer

  /// None: it is not connected, or is being welcomed right now.
  session_actor session_of(const peer_id& who) const;

private:
  struct guest {
    peer_id who;
    session_actor session;
    std::size_t passing = 0; ///< Frames on their way through the gateway.
  };

  mutable std::mutex mutex_;
  std::map<connection_id, guest> guests_;
  std::map<peer_id, session_actor> sessions_;
};

/// Sends a letter straight to the session of a connected peer. One that is
/// being welcomed right now only the gateway knows.
template <class Self>
void post(Self* self, const letterbox& box, parcel x) {
  if (auto session
      = box.guests ? box.guests->session_of(x.to) : session_actor{})
    self->send(session, std::move(x));
  else
    self->send(box.gateway, std::move(x));
}

} // namespace potluck
