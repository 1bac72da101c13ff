/// What the rounds of a peer that only averages hold in memory, and a bound on
/// it that several such peers of one process share.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "messages/matchmaking.hpp"
#include "runtime/averaging/robust_mean.hpp"
#include "runtime/planning/share_plan.hpp"

namespace potluck {

/// Values of the chunks that member `self` averages by the plan.
std::uint64_t planned_values(const group_contract& contract,
                             const share_plan& plan, std::size_t self);

/// Bytes that an auxiliary peer holds at most while rounds with this contract
/// follow each other without a loss: of its share the sums of this round, the
/// means of the one before, as others unpack them and packed, which slow lines
/// may still be sending, and as much idle memory; under a robust rule every
/// part; and of each other member what its connection may hold. A heal adds
/// chunks of whoever was lost.
/// @param self Its place in the contract.
std::uint64_t round_memory(const group_contract& contract,
                           const share_plan& plan, std::size_t self,
                           const averaging_rule& rule);

/// A bound on what all of them hold together. Thread-safe.
class memory_allowance {
public:
  /// @param most Bytes. @param each What one holds of them at most, unless it
  ///     is favoured.
  explicit memory_allowance(std::uint64_t most, std::uint64_t each = UINT64_MAX)
      : most_(most), each_(each) {
  }
  /// This one may hold all that is left.
  void favour(const peer_id& who);

  /// `who` holds so many bytes from here on, instead of what it held. False:
  /// they do not fit, and nothing changes.
  bool take(const peer_id& who, std::uint64_t bytes);
  /// It holds nothing any more.
  void release(const peer_id& who);

  std::uint64_t most() const {
    return most_;
  }

private:
  const std::uint64_t most_;
  const std::uint64_t each_;
  std::mutex mutex_; ///< Of what follows.
  std::map<peer_id, std::uint64_t> held_;
  std::set<peer_id> favoured_;
};

} // namespace potluck
