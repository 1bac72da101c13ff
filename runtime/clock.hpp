/// The one type of time in pure code. Nothing here reads a clock: whoever owns
/// a decision is told what time it is, so that a simulation can say it too.
#pragma once

#include <chrono>

namespace potluck {

/// A length of time in whole nanoseconds.
using duration = std::chrono::nanoseconds;

/// A moment of one peer's own monotonic clock. Moments of two peers must never
/// be compared; messages carry durations instead.
using time_point = std::chrono::time_point<std::chrono::steady_clock,
                                           std::chrono::nanoseconds>;

} // namespace potluck
