#include "runtime/relay/hub_choice.hpp"

#include <algorithm>
#include <utility>

#include "runtime/dialable.hpp"
#include "runtime/relay/relaying_transport.hpp"

namespace potluck {

namespace {

std::vector<contact> without(const std::vector<contact>& hubs,
                             const peer_id& id) {
  std::vector<contact> rest;
  for (const auto& x : hubs)
    if (x.id != id)
      rest.push_back(x);
  return rest;
}

} // namespace

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
    result.rest = without(hubs, hub.id);
    return result;
  }
  for (const auto& hub : hubs) {
    if (!dialable(hub) || hub.id == x.self || hub.id == who.id)
      continue;
    const bool comes = x.links.is_on_its_way(hub.id);
    if (!comes && !knocks_.spend(hub.where.host, now))
      continue;
    by_hub_[hub.id].push_back({who, without(hubs, hub.id)});
    result.step = comes ? step::wait : step::dial;
    result.hub = hub;
    return result;
  }
  if (x.links.is_on_its_way(who.id))
    result.step = step::wait;
  return result;
}

bool hub_choice::has(const peer_id& who) const {
  return std::any_of(by_hub_.begin(), by_hub_.end(), [&](auto& x) {
    return std::any_of(x.second.begin(), x.second.end(),
                       [&](auto& waits) { return waits.who.id == who; });
  });
}

std::vector<hub_choice::waiting> hub_choice::end(const peer_id& hub,
                                                 bool there) {
  auto all = by_hub_.extract(hub);
  if (!all)
    return {};
  if (there)
    for (auto& x : all.mapped())
      x.hubs.insert(x.hubs.begin(), contact{hub, {}});
  return std::move(all.mapped());
}

} // namespace potluck
