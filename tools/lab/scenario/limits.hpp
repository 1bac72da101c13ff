/// How large a scenario may be, and how long and short what happens in it.
#pragma once

#include <chrono>
#include <cstddef>

namespace potluck::limits {

using namespace std::chrono_literals;

/// Bytes of a scenario's file: a person writes a few thousand.
constexpr std::size_t scenario_bytes = 1u << 20;
/// Peers of a scenario, those that come later included: what one machine's
/// memory simulates.
constexpr std::size_t scenario_peers = 16384;
/// Of every duration in a scenario: as virtual nanoseconds they add up to far
/// less than what 64 bits hold.
constexpr auto scenario_longest = std::chrono::hours{24 * 366};
/// Between two events of one rule or one peer's churn: an interval that chance
/// draws as zero must not stop time.
constexpr auto scenario_shortest = 10ms;
/// A clock that runs backwards, or stands, is not drift.
constexpr double slowest_clock = -0.9;

} // namespace potluck::limits
