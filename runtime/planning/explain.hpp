/// Why a plan is as fast as it is: the strategy's name, what of each peer is
/// used up, and what more of it would gain.
#pragma once

#include "runtime/planning/shares.hpp"
#include "runtime/planning/strategy_plan.hpp"

namespace potluck {

/// What a plan was made of.
struct explained_network {
  const strategy_problem& problem;
  const peer_network& net;
  const peer_flags& computing;
  const exchange& rates;        ///< Without `reduce` when not listed.
  const share_exchange& direct; ///< Maybe empty.
  double averaging;             ///< Gradients per second, published.
  double scheduled;             ///< The same of the schedule.
};

/// Sets `strategy`, every peer's `binding` and gains, and the auxiliary gain.
/// The rest of the plan is filled in.
void explain(const explained_network& what, strategy_plan& plan);

} // namespace potluck
