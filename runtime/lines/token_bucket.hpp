/// A rate over time, with a bounded burst. Knows no clock.
#pragma once

#include <algorithm>

#include "runtime/clock.hpp"

namespace potluck {

class token_bucket {
public:
  /// Begins full.
  /// @param rate Tokens per second, above zero.
  /// @param burst What idle time saves up at most.
  token_bucket(double rate, double burst)
      : rate_(rate), burst_(burst), tokens_(burst) {
  }

  /// Below zero after more was spent than there was. A time before the last one
  /// counts as the last one.
  double available(time_point now) {
    now = std::max(now, filled_);
    if (filled_ != time_point{})
      tokens_ = std::min(burst_, tokens_ + rate_ * seconds(now - filled_));
    filled_ = now;
    return tokens_;
  }

  void spend(double tokens) {
    tokens_ -= tokens;
  }

  /// Spends one token, if there is one.
  bool take(time_point now) {
    if (available(now) < 1)
      return false;
    spend(1);
    return true;
  }

  /// How long until there are so many; beyond the burst there never are, and
  /// the burst counts instead.
  duration until(double tokens, time_point now) {
    auto missing = std::min(tokens, burst_) - available(now);
    return missing <= 0 ? duration{0}
                        : duration{static_cast<duration::rep>(
                            missing / rate_ * 1e9 + 1)};
  }

private:
  static double seconds(duration x) {
    return std::chrono::duration<double>(x).count();
  }

  double rate_;
  double burst_;
  double tokens_;
  time_point filled_{};
};

} // namespace potluck
