/// Whether to lead a group now.
#pragma once

#include <cstddef>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/matchmaking/leader_order.hpp"

namespace potluck {

/// Whether this peer is the one to lead: a trainer, ready, and no other ready
/// trainer at the same step and state comes before it.
/// @param fresh Reports of other peers that are recent enough to count.
/// @param passed_over How many before it may have missed their turn.
bool should_lead(const progress_report& self,
                 const std::vector<progress_report>& fresh,
                 const leader_order& order = {}, std::size_t passed_over = 0);

} // namespace potluck
