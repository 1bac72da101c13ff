/// How a line between this peer and another is made: the one place that decides
/// it. Whoever adds a way (through a third peer, by reversal) adds it here, and
/// then in `gateway_state::dial`, which goes it.
#pragma once

#include "messages/contact.hpp"

namespace potluck {

enum class line_way {
  we_dial,  ///< At the address that it names, or that others know of it.
  it_dials, ///< It says that nobody can dial it (port 0), and can dial us.
  none,     ///< Neither can dial the other.
};

/// @param said Where the other listens, by its own word; an empty host: it has
///     not said.
/// @param reachable Whether others can dial this peer.
inline line_way way_to(const address& said, bool reachable) {
  if (said.port != 0 || said.host.empty())
    return line_way::we_dial;
  return reachable ? line_way::it_dials : line_way::none;
}

} // namespace potluck
