#include "runtime/strangers/crowd.hpp"

#include <algorithm>

#include "runtime/strangers/home_of.hpp"

namespace potluck {

void crowd::add(connection_id id, const std::string& host) {
  if (!where_.emplace(id, place{host, come_}).second)
    return;
  auto& x = prefixes_[prefix_of(host)];
  ++x.size;
  x.homes[home_of(host)].emplace(come_++, id);
  newest_ = id;
}

void crowd::remove(connection_id id) {
  const auto at = where_.find(id);
  if (at == where_.end())
    return;
  const auto& [host, number] = at->second;
  const auto x = prefixes_.find(prefix_of(host));
  const auto mine = x->second.homes.find(home_of(host));
  mine->second.erase(number);
  if (mine->second.empty())
    x->second.homes.erase(mine);
  if (--x->second.size == 0)
    prefixes_.erase(x);
  where_.erase(at);
}

std::optional<connection_id> crowd::too_many() const {
  const auto newest = where_.find(newest_);
  if (newest == where_.end())
    return std::nullopt;
  const auto& host = newest->second.host;
  const auto& x = prefixes_.at(prefix_of(host));
  const auto& mine = x.homes.at(home_of(host));
  if (mine.size() > most_.home)
    return mine.begin()->second;
  if (x.size > most_.prefix)
    return fullest_of(x).begin()->second;
  if (where_.size() > most_.all)
    return gives_way();
  return std::nullopt;
}

connection_id crowd::gives_way() const {
  // Of equal ones that which holds the oldest: never the newest.
  const prefix* fullest = nullptr;
  home::const_iterator oldest;
  for (const auto& [name, x] : prefixes_) {
    const auto first = fullest_of(x).begin();
    if (fullest == nullptr || x.size > fullest->size
        || (x.size == fullest->size && first->first < oldest->first)) {
      fullest = &x;
      oldest = first;
    }
  }
  return oldest->second;
}

const crowd::home& crowd::fullest_of(const prefix& x) {
  return std::max_element(x.homes.begin(), x.homes.end(),
                          [](const auto& a, const auto& b) {
                            const auto &one = a.second, &other = b.second;
                            return one.size() != other.size()
                                       ? one.size() < other.size()
                                       : one.begin()->first
                                             > other.begin()->first;
                          })
      ->second;
}

} // namespace potluck
