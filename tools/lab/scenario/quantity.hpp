/// Numbers of a scenario that chance may decide, and times in its seconds.
#pragma once

#include "runtime/clock.hpp"
#include "runtime/random.hpp"

namespace potluck {

/// A quantity that chance may decide, once per use.
struct quantity {
  enum class law {
    constant,    ///< `a`.
    uniform,     ///< From `a` to `b`.
    exponential, ///< Mean `a`.
    lognormal,   ///< Median `a`; `b` is the deviation of the logarithm.
  };
  law kind = law::constant;
  double a = 0;
  double b = 0;

  /// The same number from the same stream on every machine.
  double draw(random_stream& chance) const;

  friend bool operator==(const quantity& x, const quantity& y) {
    return x.kind == y.kind && x.a == y.a && x.b == y.b;
  }
};

/// Seconds as a duration, rounded to nanoseconds; what is beyond 100 years or
/// below zero becomes 100 years or zero.
duration to_duration(double seconds);
double to_seconds(duration x);

} // namespace potluck
