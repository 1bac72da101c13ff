#include "runtime/relay/hub_waits.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

std::vector<contact> hub_waits::without(const std::vector<contact>& hubs,
                                        const peer_id& id) {
  std::vector<contact> rest;
  for (const auto& x : hubs)
    if (x.id != id)
      rest.push_back(x);
  return rest;
}

void hub_waits::add(const peer_id& hub, const contact& who,
                    const std::vector<contact>& hubs) {
  by_hub_[hub].push_back({who, without(hubs, hub)});
}

bool hub_waits::has(const peer_id& who) const {
  return std::any_of(by_hub_.begin(), by_hub_.end(), [&](auto& x) {
    return std::any_of(x.second.begin(), x.second.end(),
                       [&](auto& waits) { return waits.who.id == who; });
  });
}

std::vector<hub_waits::one> hub_waits::end(const peer_id& hub, bool there) {
  auto all = by_hub_.extract(hub);
  if (!all)
    return {};
  if (there)
    for (auto& x : all.mapped())
      x.hubs.insert(x.hubs.begin(), contact{hub, {}});
  return std::move(all.mapped());
}

} // namespace potluck
