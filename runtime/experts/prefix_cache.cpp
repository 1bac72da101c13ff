#include "runtime/experts/prefix_cache.hpp"

#include <iterator>
#include <utility>

#include "runtime/config.hpp"

namespace potluck {

std::optional<std::vector<std::uint32_t>>
prefix_cache::find(const std::string& prefix, time_point now) const {
  std::lock_guard<std::mutex> guard{mutex_};
  auto at = entries_.find(prefix);
  if (at == entries_.end() || at->second.expires <= now)
    return std::nullopt;
  return at->second.coordinates;
}

void prefix_cache::keep(const std::string& prefix,
                        std::vector<std::uint32_t> coordinates,
                        time_point now) {
  std::lock_guard<std::mutex> guard{mutex_};
  if (coordinates.empty()) {
    entries_.erase(prefix);
    return;
  }
  if (entries_.size() >= limits::expert_lookups_kept) {
    for (auto i = entries_.begin(); i != entries_.end();)
      i = i->second.expires <= now ? entries_.erase(i) : std::next(i);
    if (entries_.size() >= limits::expert_lookups_kept)
      entries_.clear();
  }
  entries_[prefix]
      = {std::move(coordinates), now + duration{limits::expert_prefix_life}};
}

} // namespace potluck
