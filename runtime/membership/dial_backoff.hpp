/// When to dial next, after so many failures in a row.
#pragma once

#include "runtime/clock.hpp"
#include "runtime/random.hpp"

namespace potluck {

struct dial_backoff {
  /// Wait after the first failure; doubles with each further one in a row,
  /// which only a connection of at least `longest` ends.
  static constexpr duration first = std::chrono::milliseconds{500};
  /// Longest wait: a peer that returns is found within half a minute.
  static constexpr duration longest = std::chrono::seconds{30};

  /// While a dial is under way: when to give it up.
  time_point due;
  unsigned failures = 0;

  /// The dial has failed. Half of the wait is certain, half is chance: those
  /// that lost the same peer at the same moment must not return at the same
  /// moment.
  void failed(time_point now, random_stream& random) {
    // 500 ms, 1 s, ... 16 s, then the longest.
    const duration wait = failures < 6 ? first * (1 << failures) : longest;
    ++failures;
    const auto half = wait / 2;
    due = now + half
          + duration{static_cast<duration::rep>(
              random.below(static_cast<std::uint64_t>(half.count()) + 1))};
  }
};

} // namespace potluck
