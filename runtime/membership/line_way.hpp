/// How a line between this peer and another is made: the one place that decides
/// it. Whoever adds a way adds it here, and then in `line_maker` (actors/),
/// which goes it.
#pragma once

#include "messages/contact.hpp"
#include "messages/progress.hpp"

namespace potluck {

enum class line_way {
  we_dial,     ///< At the address that it names, or that others know of it.
  it_dials,    ///< It says that nobody can dial it (port 0), and can dial us.
  through_hub, ///< A third peer passes bytes on. If we can be dialled, it dials
               ///< us as soon as it hears of us there.
  none,        ///< Nor is there one.
};

/// @param said Where the other listens, by its own word; an empty host: it has
///     not said.
/// @param reachable Whether others can dial this peer.
/// @param hubs Whether it names hubs that it is connected with.
inline line_way way_to(const address& said, bool reachable, bool hubs) {
  if (said.port != 0 || said.host.empty())
    return line_way::we_dial;
  if (hubs)
    return line_way::through_hub;
  return reachable ? line_way::it_dials : line_way::none;
}

/// By its last report.
inline line_way way_to(const progress_report& said, bool reachable) {
  return way_to(said.where, reachable, !said.hubs.empty());
}

} // namespace potluck
