/// How many small letters (routing, reports, matchmaking) one peer may send: a
/// token bucket.
///
/// Pure: the time comes in with every letter. What to do with a peer that
/// exceeds it is the caller's. Parts, means and pieces of state are none of
/// its business: lines bound those, and rounds and budgets say what is wanted.
#pragma once

#include <algorithm>
#include <chrono>

#include "runtime/clock.hpp"

namespace potluck {

class letter_allowance {
public:
  struct bounds {
    double per_second; ///< That may go on for ever. Positive.
    double at_once;    ///< Saved up while nothing comes. At least one.
  };

  /// What a peer is granted. Busy honest ones send some ten letters a second
  /// and, when a slow line or a machine that stood still lets go of what it
  /// held, a minute's worth at once; twenty thousand reports are 4 MB.
  static constexpr bounds usual{200, 20'000};

  /// Begins with everything saved up.
  letter_allowance(bounds most, time_point now)
      : most_{most}, left_{most.at_once}, counted_{now} {
  }

  /// Counts a letter; false when there was none left to spend. A time before
  /// the last one counts as the last one.
  bool spend(time_point now) {
    if (now > counted_) {
      std::chrono::duration<double> passed = now - counted_;
      left_
          = std::min(most_.at_once, left_ + passed.count() * most_.per_second);
      counted_ = now;
    }
    if (left_ < 1)
      return false;
    left_ -= 1;
    return true;
  }

private:
  bounds most_;
  double left_;
  time_point counted_;
};

} // namespace potluck
