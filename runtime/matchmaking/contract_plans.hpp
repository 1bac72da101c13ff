/// The share plans of contracts, and whether rounds keep to them.
///
/// Pure: members compare the digest of a plan before they start, and what a
/// round begins with should not wait for the same again.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/contract_members.hpp"
#include "runtime/matchmaking/contract_terms.hpp"
#include "runtime/planning/claims_check.hpp"
#include "runtime/planning/collaboration.hpp"
#include "runtime/planning/contract_difference.hpp"
#include "runtime/planning/leaders_plan.hpp"
#include "runtime/planning/planner.hpp"

namespace potluck {

class contract_plans {
public:
  explicit contract_plans(const plan_rules& rules) : rules_(rules) {
  }

  const plan_rules& rules() const {
    return rules_;
  }

  /// Every member of the group derives the same from the contract. The leader's
  /// where the contract names one that differs by next to nothing.
  const share_plan& of(const group_contract& contract) {
    auto input = plan_input_digest(contract);
    const auto known = last_ && last_->first == input;
    if (known && (contract.plan.empty() || contract.plan == last_digest_))
      return last_->second;
    const auto figures = collaboration_of(contract, rules_);
    if (!known) {
      last_ = {input, plan(figures)};
      last_digest_ = plan_digest(last_->second);
    }
    if (contract.plan.empty() || contract.plan == last_digest_)
      return last_->second;
    if (auto leaders = leaders_plan(figures, last_->second, contract.plan)) {
      last_->second = std::move(*leaders);
      last_digest_ = contract.plan;
    }
    return last_->second;
  }

  /// The round of this contract begins.
  void begin(const group_contract& contract) {
    begun_ = contract.group;
    planned_seconds_ = of(contract).predicted_seconds;
  }

  /// Whether contracts are to quote what members say of their lines.
  bool believe() const {
    return claims_.believe();
  }

  /// A round was committed by all of its members. True when `believe` has
  /// changed by it.
  bool took(const group_contract& contract, double seconds) {
    if (rules_.shares != share_rule::planned || contract.members.size() < 2
        || contract.group != begun_)
      return false;
    auto before = believe();
    claims_.observe(ids_of(contract), quotes_lines(contract), planned_seconds_,
                    seconds);
    return believe() != before;
  }

  /// What the round that began last was to take.
  double planned_seconds() const {
    return planned_seconds_;
  }

private:
  plan_rules rules_;
  claims_check claims_;
  /// With the digest of what it follows from.
  std::optional<std::pair<digest, share_plan>> last_;
  digest last_digest_; ///< Of that plan.
  group_id begun_;
  double planned_seconds_ = 0;
};

} // namespace potluck
