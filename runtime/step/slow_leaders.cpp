#include "runtime/step/slow_leaders.hpp"

#include <algorithm>

namespace potluck {

void slow_leaders::waited(const peer_id& leader, duration how_long,
                          duration computing, time_point now) {
  const auto free = std::max<duration>(limits::contract_free,
                                       computing / limits::contract_free_part);
  if (how_long <= free || left_.spend(how_long - free, now) > duration{0})
    return;
  // The next one is not to pay for that.
  left_ = {limits::contract_credit, limits::contract_share};
  left_.spend(limits::contract_credit / 2, now);
  if (resting_.size() >= limits::slow_leaders_known
      && resting_.count(leader) == 0)
    resting_.erase(std::min_element(
        resting_.begin(), resting_.end(),
        [](auto& a, auto& b) { return a.second.until < b.second.until; }));
  auto& x = resting_[leader];
  x.until = now + limits::slow_leaders_rest * (1 << x.times);
  x.times = std::min(x.times + 1, limits::slow_leaders_doublings);
}

bool slow_leaders::has(const peer_id& who, time_point now) const {
  const auto known = resting_.find(who);
  return known != resting_.end() && now < known->second.until;
}

} // namespace potluck
