/// On which terms a member runs a round: what its group has agreed on, how the
/// run averages, and what this member remembers of its rounds so far.
#pragma once

#include <cstdint>
#include <memory>

#include "messages/matchmaking.hpp"
#include "runtime/averaging/call_offs.hpp"
#include "runtime/averaging/denials.hpp"
#include "runtime/averaging/robust_mean.hpp"
#include "runtime/planning/share_plan.hpp"
#include "runtime/safeguards.hpp"

namespace potluck {

struct round_terms {
  group_contract contract;
  share_plan plan;
  bool keeps_majority = false; ///< See `round_agreement`.
  peer_id self;
  averaging_rule rule;
  packing usual = packing::float32; ///< Where the plan says nothing.
  safeguard_set guards = {};
  std::uint64_t nonce = 1; ///< Nobody else knows it; see `sum_auditor`.
  /// Of the rounds so far; null: this is the first.
  std::shared_ptr<potluck::denials> denials = nullptr;
  /// Likewise.
  std::shared_ptr<potluck::call_offs> call_offs
      = std::make_shared<potluck::call_offs>();
  unsigned threads = 1; ///< That make the mean where nobody else does.

  /// Nobody else is in it, and its rule makes the gradient's mean of it.
  bool alone() const {
    return contract.members.size() == 1 && rule.how == aggregator::mean
           && rule.part_norm <= 0;
  }
};

} // namespace potluck
