/// What a step's course looks like from outside: the events that logs keep
/// (runtime/event_log). Pure functions.
#pragma once

#include <set>
#include <string>

#include "runtime/event_log.hpp"
#include "runtime/membership/split_watch.hpp"
#include "runtime/planning/resting.hpp"
#include "runtime/state/fetch_goal.hpp"
#include "runtime/step/facts.hpp"
#include "runtime/step/round_watch.hpp"

namespace potluck {

/// A group has formed: its plan, what limits it, and why it is a new one.
/// @param averaging Name and reason of the way (`way::explain`).
/// @param through Members that hand in gradients of others for want of lines,
///     who make the strategy a relayed one. @param resting Who computes none.
event plan_news(const group_formed& x,
                const std::pair<std::string, std::string>& averaging,
                const std::string& why, const std::string& through,
                const std::string& resting);

/// "peer 1a2b3c4d, peer 5e6f7a8b".
std::string names_of(const std::set<peer_id>& peers);

/// This trainer begins to rest, or to compute again, with the samples for
/// `step`.
event rest_news(std::uint64_t step, bool rests, const resting::verdict& x);

/// A round is over. @param redrawn Its group was one of several.
event round_news(const round_over& x, bool redrawn);

/// A mean was applied.
/// @param round Null: the round was a predecessor's. @param seconds Of the
/// step. @param redrawn As above.
event step_news(const state_changed& x, const round_over* round,
                const round_watch::result& what, double seconds, bool redrawn);

/// Trainers were lost at once. @param step Held.
event split_news(const split_watch::split& x, std::uint64_t step);
/// Half of them are back.
event reunion_news(std::uint64_t step);

/// The downloaded history does not hold this peer's own steps, or may not.
event island_news(const fetch_result& x, std::uint64_t step);

} // namespace potluck
