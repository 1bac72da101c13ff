#include "runtime/strangers/large_frames.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/strangers/home_of.hpp"

namespace potluck {

bool large_frames::begin(connection_id id, const std::string& host,
                         std::size_t bytes, time_point now) {
  frame x{id, home_of(host), bytes};
  // Nobody overtakes who waits for the same room.
  if (home_waits(x.home) || first_waiting() != wait_.end() || !fits(x)) {
    wait_.push_back(std::move(x));
    return false;
  }
  take(std::move(x), now);
  return true;
}

void large_frames::over(connection_id id) {
  wait_.erase(std::remove_if(wait_.begin(), wait_.end(),
                             [&](const frame& x) { return x.id == id; }),
              wait_.end());
  const auto at = come_.find(id);
  if (at == come_.end())
    return;
  const auto& x = at->second;
  taken_ -= x.bytes;
  const auto mine = homes_.find(x.home);
  mine->second -= x.bytes;
  if (mine->second == 0)
    homes_.erase(mine);
  come_.erase(at);
}

std::vector<connection_id> large_frames::next(time_point now) {
  std::vector<connection_id> result;
  for (auto i = first_waiting(); i != wait_.end() && fits(*i);
       i = first_waiting()) {
    result.push_back(i->id);
    auto x = *i;
    wait_.erase(i);
    take(std::move(x), now);
  }
  return result;
}

std::optional<connection_id>
large_frames::too_slow(time_point now, const progress& come) const {
  const bool all_wanted = first_waiting() != wait_.end();
  for (const auto& [id, x] : come_) {
    if (!all_wanted && !home_waits(x.home))
      continue;
    const std::chrono::duration<double> took{static_cast<double>(come(id))
                                             / most_.rate};
    if (now - x.since > most_.grace + took)
      return id;
  }
  return std::nullopt;
}

bool large_frames::home_waits(const std::string& home) const {
  return std::any_of(wait_.begin(), wait_.end(),
                     [&](const frame& x) { return x.home == home; });
}

large_frames::line::const_iterator large_frames::first_waiting() const {
  std::set<std::string> full;
  return std::find_if(wait_.begin(), wait_.end(), [&](const frame& x) {
    return full.count(x.home) == 0
           && (home_has_room(x) || !full.insert(x.home).second);
  });
}

bool large_frames::home_has_room(const frame& x) const {
  const auto mine = homes_.find(x.home);
  return (mine == homes_.end() ? 0 : mine->second) + x.bytes <= most_.home;
}

bool large_frames::fits(const frame& x) const {
  return home_has_room(x) && taken_ + x.bytes <= most_.all;
}

void large_frames::take(frame x, time_point now) {
  taken_ += x.bytes;
  homes_[x.home] += x.bytes;
  x.since = now;
  const auto id = x.id;
  come_.emplace(id, std::move(x));
}

} // namespace potluck
