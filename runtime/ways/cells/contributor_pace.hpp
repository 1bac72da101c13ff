/// How often a contributor looks around, tells its members what it has, and
/// ends a batch: parts of a step, within limits.
///
/// Nobody waits for a contributor but its sponsor, once a step. The longer the
/// steps, the less it has to say, and the more of them a sponsor can have.
#pragma once

#include <optional>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A contributor's pauses are parts of a step (`contributor_pace`): between two
/// looks of its roster, conductor and cell, which news wake besides; the
/// longest batch, which its sponsor may have to wait for; and between two
/// reports to its sponsor, which guesses how it went on meanwhile.
constexpr int looks_a_step = 10;
constexpr auto shortest_look = 2s;
constexpr auto longest_look = 10s;
constexpr int contributors_batches_a_step = 12;
constexpr auto contributors_shortest_batch = 1s;
constexpr auto contributors_longest_batch = 6s;
constexpr int reports_a_step = 3;
constexpr auto shortest_report_pause = 4s;
constexpr auto longest_report_pause = 18s;

} // namespace potluck::limits

namespace potluck {

struct contributor_pace {
  duration look = limits::shortest_look; ///< Of its roster, conductor and cell.
  duration batch = limits::contributors_shortest_batch; ///< At most.
  duration report = limits::shortest_report_pause;      ///< Without news.
};

bool operator==(const contributor_pace& a, const contributor_pace& b);

/// @param step What the last step took.
contributor_pace pace_of(duration step);

/// The longest batch that a contributor begins now. Its sponsor waits for the
/// end of the one under way, so batches grow shorter towards the moment at
/// which it asked in the last step, and longer again if that passes by.
/// @param since For how long this step's gradient has been accumulated.
/// @param asked_after For how long the last step's had been when it was asked
///     for; none: it was not.
duration longest_batch_now(const contributor_pace& pace, duration since,
                           const std::optional<duration>& asked_after);

/// From `now` to the next look. All actors of one peer look at the same
/// moments, so that it wakes once; different peers look at different ones.
/// @return More than zero, at most `look`.
duration until_next_look(time_point now, duration look, const peer_id& self);

} // namespace potluck
