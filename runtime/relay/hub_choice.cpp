#include "runtime/relay/hub_choice.hpp"

#include <algorithm>

#include "runtime/dialable.hpp"
#include "runtime/relay/relaying_transport.hpp"

namespace potluck {

hub_choice::choice hub_choice::next(const contact& who,
                                    const std::vector<contact>& hubs,
                                    const scene& x, time_point now) {
  choice result;
  for (const auto& hub : hubs) {
    if (!x.guests.has(hub.id) || x.links.size() >= most_connections)
      continue;
    // The newest: an older one may be dead, unnoticed.
    const auto& all = x.guests.of(hub.id);
    const auto newest = std::find_if_not(all.rbegin(), all.rend(),
                                         relaying_transport::is_circuit);
    if (newest == all.rend())
      continue;
    result.step = step::open;
    result.over = *newest;
    result.rest = hub_waits::without(hubs, hub.id);
    return result;
  }
  for (const auto& hub : hubs) {
    if (!dialable(hub) || hub.id == x.self || hub.id == who.id)
      continue;
    const bool comes = x.links.is_on_its_way(hub.id);
    if (!comes && !knocks_.spend(hub.where.host, now))
      continue;
    waits_.add(hub.id, who, hubs);
    result.step = comes ? step::wait : step::dial;
    result.hub = hub;
    return result;
  }
  if (x.links.is_on_its_way(who.id))
    result.step = step::wait;
  return result;
}

} // namespace potluck
