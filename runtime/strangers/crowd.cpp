#include "runtime/strangers/crowd.hpp"

#include <algorithm>

#include "runtime/strangers/home_of.hpp"

namespace potluck {

void crowd::add(connection_id id, const std::string& host) {
  if (!where_.emplace(id, host).second)
    return;
  auto& x = prefixes_[prefix_of(host)];
  ++x.size;
  x.homes[home_of(host)].insert(id);
  last_ = id;
}

void crowd::remove(connection_id id) {
  const auto at = where_.find(id);
  if (at == where_.end())
    return;
  const auto x = prefixes_.find(prefix_of(at->second));
  const auto mine = x->second.homes.find(home_of(at->second));
  mine->second.erase(id);
  if (mine->second.empty())
    x->second.homes.erase(mine);
  if (--x->second.size == 0)
    prefixes_.erase(x);
  where_.erase(at);
}

std::optional<connection_id> crowd::too_many() const {
  const auto newest = where_.find(last_);
  if (newest == where_.end())
    return std::nullopt;
  const auto& x = prefixes_.at(prefix_of(newest->second));
  const auto& mine = x.homes.at(home_of(newest->second));
  if (mine.size() > most_.home)
    return *mine.begin();
  if (x.size > most_.prefix)
    return oldest_of_fullest(x);
  if (where_.size() > most_.all)
    return gives_way();
  return std::nullopt;
}

connection_id crowd::gives_way() const {
  const prefix* fullest = nullptr;
  connection_id result = 0;
  for (const auto& [name, x] : prefixes_)
    if (fullest == nullptr || x.size >= fullest->size) {
      const auto oldest = oldest_of_fullest(x);
      if (fullest != nullptr && x.size == fullest->size && oldest > result)
        continue;
      fullest = &x;
      result = oldest;
    }
  return result;
}

connection_id crowd::oldest_of_fullest(const prefix& x) {
  return *std::max_element(x.homes.begin(), x.homes.end(),
                           [](const auto& a, const auto& b) {
                             const auto &one = a.second, &other = b.second;
                             return one.size() != other.size()
                                        ? one.size() < other.size()
                                        : *one.begin() > *other.begin();
                           })
              ->second.begin();
}

} // namespace potluck
