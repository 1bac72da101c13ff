/// A leader's share plan that is not this peer's own, to the bit.
#pragma once

#include <optional>

#include "runtime/planning/collaboration.hpp"
#include "runtime/planning/share_plan.hpp"

namespace potluck {

/// What another plan's exchange may take longer than the own one's.
constexpr double near_enough = 1.01;

/// The leader's plan, if it is the own one but for a single chunk that another
/// member averages, that member may, and the exchange takes at most
/// `near_enough` times as long.
///
/// A contract carries a plan's digest. Members that compute with other last
/// digits, as two builds may, round the same shares to whole chunks, and at a
/// tie one chunk goes elsewhere. Whatever differs by more is another plan.
/// O(n^2) digests of n members.
/// @param own As `plan` gives it for `input`. @param wanted The leader's
/// digest.
std::optional<share_plan> leaders_plan(const collaboration& input,
                                       const share_plan& own,
                                       const digest& wanted);

} // namespace potluck
