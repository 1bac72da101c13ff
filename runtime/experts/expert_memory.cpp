#include "runtime/experts/expert_memory.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/failing_hosts.hpp"

namespace potluck {

expert_memory::coordinates
expert_memory::without_failing(const std::string& prefix,
                               const coordinates& all, time_point now) const {
  if (failing_.empty())
    return all;
  coordinates left;
  for (auto x : all) {
    auto at = failing_.find(prefix + '.' + std::to_string(x));
    if (at == failing_.end() || at->second.until <= now)
      left.push_back(x);
  }
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
  failing_.erase(uid);
}

void expert_memory::failed(const std::string& uid, time_point now) {
  std::lock_guard<std::mutex> guard{mutex_};
  if (failing_.size() >= limits::experts_failing && failing_.count(uid) == 0)
    failing_.erase(failing_.begin());
  auto& x = failing_[uid];
  // Several calls that fail together are one failure.
  if (now < x.until || ++x.in_a_row < limits::expert_failures)
    return;
  duration pause{limits::expert_failure_pause};
  for (auto n = limits::expert_failures;
       n < x.in_a_row && pause < limits::expert_failure_cap; ++n)
    pause *= 2;
  x.until = now + std::min<duration>(pause, limits::expert_failure_cap);
}

} // namespace potluck
