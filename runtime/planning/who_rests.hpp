/// Who computes in a run: `c_i` of the published problem, for the exchange that
/// a run carries out (one_place.hpp).
///
/// A trainer with a thin line holds up everybody when it sends its gradient. It
/// *rests* where the run makes more samples per second without that gradient:
/// it computes none, stays a member, averages, and takes the means.
#pragma once

#include <set>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/planning/collaboration.hpp"

namespace potluck {

struct resting_choice {
  std::vector<bool>
      rests;              ///< A flag for each member; none is set: all compute.
  double seconds_all = 0; ///< Of a step in which all compute.
  double seconds = 0;     ///< Of a step with this choice.
};

/// Whether somebody is to rest, from a contract to which all have computed: how
/// many samples each brought says how fast it is. Steps are of one target
/// batch, so the fewest seconds are the most samples per second.
///
/// The sets that are tried leave out the first few along orders of the members
/// (slowest uplink, fewest samples, fewest samples for its uplink's time); then
/// single members are added or removed while that helps. Every set's exchange
/// is the plan that a run would have, in closed form. No chance, one order of
/// sums: all members choose alike. Never more than half of those that compute
/// rest, and nobody where a trainer has brought none, or the contract says
/// nothing of lines or of how long computing takes. Throws
/// std::invalid_argument where a contract cannot be planned.
/// @param unwilling They compute, whatever the others do.
resting_choice choose_resting(const group_contract& contract,
                              const plan_rules& rules = {},
                              const std::set<peer_id>& unwilling = {});

/// Resting has to make steps so many times faster. Speeds and lines are
/// measured to a tenth or so, and somebody's data is worth something, too.
constexpr double worth_resting = 1.1;

} // namespace potluck
