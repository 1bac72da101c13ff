/// How the queues of a group's lines are shared out among its connections.
///
/// All that a group exchanges ends together when each connection gets its part
/// of the lines at both of its ends, by what passes over it. Whose line is the
/// thinner one shares it out by what is under way: so a connection may have as
/// much of a line's queue as the plan gives it of the line. What its round trip
/// needs follows from the plan as well, not from what it carries: else whoever
/// carries more at first gets more of the line, and all wait for the others.
/// Pure.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/planning/planner.hpp"
#include "runtime/ports/transport.hpp"

namespace potluck {

/// The queue that a line may have, whoever sends: what it carries in this time,
/// for routers hold more than 100 ms on nearly all household lines (Dischinger
/// et al., "Characterizing residential broadband networks", 2007) ...
constexpr double planned_queue_seconds = 0.125;
/// ... and at most this, which keeps a faster line busy from one look at the
/// connections to the next.
constexpr double largest_planned_queue = 48 * 1448;

/// What `self` may have under way to each member: its part of the receiver's
/// queue, or of its own, whichever is more, but of its own no more than it
/// brings the receiver in that time: else the queues of many senders fill one
/// router's, and who loses a packet is behind for seconds. And the rate at
/// which it is to send to them, its part of the thinner line. 0: nothing
/// passes, and for `self`.
std::vector<planned_window> planned_windows(const collaboration& input,
                                            const std::vector<double>& shares,
                                            std::size_t self);

/// The same for a round, by its contract and plan: those of its members that
/// something passes to. None where the plan does not have every member's share.
std::vector<std::pair<peer_id, planned_window>>
planned_windows(const group_contract& contract, const share_plan& plan,
                std::size_t self);

} // namespace potluck
