/// Where a peer's means are made: one pool that its rounds use one after the
/// other, for as long as they need as much.
///
/// Knows when a round needs another one; the memory itself is `value_pool`'s.
#pragma once

#include <cstdint>
#include <optional>

#include "messages/matchmaking.hpp"
#include "runtime/averaging/value_pool.hpp"
#include "runtime/planning/share_plan.hpp"

namespace potluck {

class mean_room {
public:
  /// Makes room for a round with this contract and plan: the last one's, if
  /// that keeps as much, else a new one. What the last one has lent stays what
  /// it is.
  /// @param self May be nobody of the contract.
  /// @return Valid until the next call.
  value_pool& prepare(const group_contract& contract, const share_plan& plan,
                      const peer_id& self);

  /// That of the last round. There must have been one.
  value_pool& pool() {
    return *pool_;
  }

private:
  std::optional<value_pool> pool_;
  std::uint64_t most_idle_ = 0; ///< Values that it keeps for later at most.
};

} // namespace potluck
