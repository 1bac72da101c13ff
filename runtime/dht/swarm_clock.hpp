/// How far this machine's clock is from those of the peers that it has chosen
/// to call: a clock that is hours off must not make its peer's words old.
///
/// Strangers that call have no say: they could make this peer's words old.
/// Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "messages/ids.hpp"

namespace potluck {

class swarm_clock {
public:
  /// Peers that are asked; more say no more.
  static constexpr std::size_t most = 31;
  /// Further off is no clock.
  static constexpr std::int64_t farthest_ms = 36 * 3600 * 1000;

  /// The clock of a peer that this one has dialled is ahead by so much.
  void says(const peer_id& who, std::int64_t ahead_ms) {
    if (ahead_ms >= -farthest_ms && ahead_ms <= farthest_ms
        && (ahead_.size() < most || ahead_.count(who) > 0))
      ahead_[who] = ahead_ms;
  }
  void left(const peer_id& who) {
    ahead_.erase(who);
  }

  /// The median of what they say; zero while nobody does.
  std::int64_t ahead_ms() const {
    if (ahead_.empty())
      return 0;
    std::vector<std::int64_t> all;
    for (const auto& [id, x] : ahead_)
      all.push_back(x);
    auto middle
        = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
  }

private:
  std::map<peer_id, std::int64_t> ahead_;
};

} // namespace potluck
