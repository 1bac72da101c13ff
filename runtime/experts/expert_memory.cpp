#include "runtime/experts/expert_memory.hpp"

#include <iterator>
#include <utility>

#include "runtime/experts/expert_records.hpp"

namespace potluck {

expert_memory::coordinates
expert_memory::without_failing(const std::string& prefix,
                               const coordinates& all, time_point now) const {
  if (failing_.empty())
    return all;
  coordinates left;
  for (auto x : all)
    if (failing_.usable(prefix + '.' + std::to_string(x), now))
      left.push_back(x);
  return left;
}

std::optional<expert_memory::coordinates>
expert_memory::find(const std::string& prefix, time_point now) const {
  std::lock_guard<std::mutex> guard{mutex_};
  auto at = entries_.find(prefix);
  if (at == entries_.end() || at->second.expires <= now)
    return std::nullopt;
  return without_failing(prefix, at->second.found, now);
}

expert_memory::coordinates expert_memory::keep(const std::string& prefix,
                                               coordinates found,
                                               time_point now) {
  std::lock_guard<std::mutex> guard{mutex_};
  if (found.empty()) {
    entries_.erase(prefix);
    return found;
  }
  if (entries_.size() >= limits::expert_lookups_kept) {
    for (auto i = entries_.begin(); i != entries_.end();)
      i = i->second.expires <= now ? entries_.erase(i) : std::next(i);
    if (entries_.size() >= limits::expert_lookups_kept)
      entries_.clear();
  }
  auto& kept = entries_[prefix];
  kept = {std::move(found), now + duration{limits::expert_prefix_life}};
  return without_failing(prefix, kept.found, now);
}

void expert_memory::answered(const std::string& uid) {
  std::lock_guard<std::mutex> guard{mutex_};
  failing_.answered(uid);
}

void expert_memory::failed(const std::string& uid, time_point now) {
  std::lock_guard<std::mutex> guard{mutex_};
  failing_.failed(uid, now);
}

} // namespace potluck
