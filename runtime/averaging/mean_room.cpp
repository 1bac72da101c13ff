#include "runtime/averaging/mean_room.hpp"

#include <utility>

#include "runtime/averaging/round_memory.hpp"

namespace potluck {

namespace {

/// Values that may wait for the next round.
std::uint64_t most_idle_of(const group_contract& contract,
                           const share_plan& plan, const peer_id& self) {
  const auto& all = contract.members;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].who.id == self && all[i].role == role::auxiliary)
      return planned_values(contract, plan, i); // See `round_memory`.
  return 2 * contract.gradient_values;
}

} // namespace

value_pool& mean_room::prepare(const group_contract& contract,
                               const share_plan& plan, const peer_id& self) {
  const auto most_idle = most_idle_of(contract, plan, self);
  if (std::exchange(most_idle_, most_idle) != most_idle || !pool_)
    pool_.emplace(most_idle);
  return *pool_;
}

} // namespace potluck
