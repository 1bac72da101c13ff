#include "runtime/membership/split_watch.hpp"

namespace potluck {

std::optional<split_watch::split>
split_watch::lost(const peer_id& who, std::size_t left, time_point now) {
  while (!recent_.empty() && now - recent_.front().first > window)
    recent_.pop_front();
  recent_.emplace_back(now, who);
  if (apart()) {
    if (missing_.insert(who).second)
      ++missed_;
    return std::nullopt;
  }
  std::set<peer_id> gone;
  for (auto& x : recent_)
    gone.insert(x.second);
  if (gone.size() < least_lost || gone.size() < left)
    return std::nullopt;
  missing_ = std::move(gone);
  missed_ = missing_.size();
  return split{missed_, left};
}

bool split_watch::returned(const peer_id& who) {
  for (auto i = recent_.begin(); i != recent_.end();)
    i = i->second == who ? recent_.erase(i) : i + 1;
  if (missing_.erase(who) == 0 || 2 * missing_.size() > missed_)
    return false;
  missing_.clear();
  recent_.clear();
  return true;
}

} // namespace potluck
