/// What the gateway tells the transport's thread of who is connected.
#pragma once

#include <map>
#include <mutex>

#include "actors/interfaces.hpp"

namespace potluck {

/// Whose connection it is, once they are welcome, and whether the gateway still
/// has frames of it: until then their session's frames pass the gateway, lest a
/// later one overtakes them. Thread-safe.
class guest_list {
public:
  void add(connection_id id, const peer_id& who, session_actor session);
  void remove(connection_id id);
  /// Empty when nobody is known to be there.
  peer_id at(connection_id id) const;
  /// The session that the next frame may go to at once. None: it has to pass
  /// the gateway, which says `passed` when it did.
  session_actor straight_to(connection_id id);
  void passed(connection_id id);

private:
  struct guest {
    peer_id who;
    session_actor session;
    std::size_t passing = 0; ///< Frames on their way through the gateway.
  };

  mutable std::mutex mutex_;
  std::map<connection_id, guest> guests_;
};

} // namespace potluck
