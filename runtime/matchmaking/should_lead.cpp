#include "runtime/matchmaking/should_lead.hpp"

#include <algorithm>

namespace potluck {

bool should_lead(const progress_report& self,
                 const std::vector<progress_report>& fresh,
                 const leader_order& order, std::size_t passed_over) {
  auto ready = [&](const progress_report& x) {
    return x.role == role::trainer && x.step == self.step
           && x.state == self.state
           && (x.phase == phase::accumulating || x.phase == phase::waiting
               || x.phase == phase::matchmaking);
  };
  if (!ready(self))
    return false;
  auto before = std::count_if(fresh.begin(), fresh.end(), [&](const auto& x) {
    return ready(x) && order.before(x.id, self.id);
  });
  return static_cast<std::size_t>(before) <= passed_over;
}

} // namespace potluck
