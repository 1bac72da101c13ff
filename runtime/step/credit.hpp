/// Time that may be lost: so much at once, and then a part of the time.
#pragma once

#include <algorithm>
#include <optional>

#include "runtime/clock.hpp"

namespace potluck {

class credit {
public:
  /// @param most At once. @param share Then one part in so many.
  credit(duration most, int share) : most_(most), share_(share), left_(most) {
  }

  /// @return What is left; less than nothing: too much was lost.
  duration spend(duration lost, time_point now) {
    if (spent_at_)
      left_ = std::min(left_ + (now - *spent_at_) / share_, most_);
    spent_at_ = now;
    return left_ -= lost;
  }
  /// How long it takes until there is so much again.
  duration until(duration enough) const {
    return share_ * std::max(enough - left_, duration{0});
  }

private:
  duration most_;
  int share_;
  duration left_; ///< When it was spent.
  std::optional<time_point> spent_at_;
};

} // namespace potluck
