/// How long something took lately, and how long to wait for it next time.
///
/// Deadlines come from what was observed, not from a number that somebody
/// guessed. Median and median absolute deviation are used because one outlier
/// in the window moves a mean and a variance, but hardly these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/clock.hpp"

namespace potluck {

class observed_durations {
public:
  /// Observations kept: about a minute of heartbeats.
  static constexpr std::size_t window = 64;
  /// Below this many observations, `deadline` trusts none of them.
  static constexpr std::size_t enough = 4;
  /// Deviations that a deadline allows beyond the median. Six standard
  /// deviations of a normal distribution, and long tails are common here.
  static constexpr int tolerance = 6;
  /// Longest observation; a longer one counts as this.
  static constexpr duration longest = std::chrono::hours{1};

  /// Adds one observation, in whole microseconds; the oldest goes when the
  /// window is full. A negative one counts as zero.
  void add(duration observed);

  /// Observations in the window.
  std::size_t count() const {
    return observed_.size();
  }

  /// The middle observation, or the mean of the middle two; zero when none.
  duration median() const;

  /// The median absolute deviation from the median; zero when none.
  duration spread() const;

  /// How long to wait: median + tolerance * 1.4826 * spread, not below `floor`
  /// and not above `cap`; `cap` while fewer than `enough` were observed.
  /// (1.4826 spreads are the standard deviation where the distribution is
  /// normal.) Precondition: `floor` is not above `cap`.
  duration deadline(duration floor, duration cap) const;

private:
  /// In microseconds, and grown as they come: a hub has two of these for each
  /// connection, most of them at rest.
  std::vector<std::uint32_t> observed_;
  std::size_t next_ = 0; ///< The oldest, once the window is full.
};

} // namespace potluck
