/// From the numbers of a curve to places in a drawing: private to this folder.
#pragma once

#include <cmath>

#include "tools/lab/display/loss_curve.hpp"

namespace potluck {

/// Beyond 1e300 the length of an axis could overflow. False for NaN.
inline bool is_drawable(const curve_point& p) {
  return std::fabs(p.x) <= 1e300 && std::fabs(p.y) <= 1e300;
}

/// The range of one axis.
struct axis_range {
  double low = 0;
  double high = 0;

  void include(double value) {
    low = std::fmin(low, value);
    high = std::fmax(high, value);
  }

  /// Makes room around a range of (almost) no length, so that it can divide.
  void widen() {
    double least = std::fmax(std::fabs(low), std::fabs(high)) * 1e-9 + 1e-12;
    if (high - low < least) {
      double room = std::fmax(std::fabs(low) * 0.1, 0.5);
      low -= room;
      high += room;
    }
  }

  /// 0 at `low`, 1 at `high`.
  double place(double value) const {
    return (value - low) / (high - low);
  }
};

struct curve_scale {
  bool empty = true; ///< No point can be drawn; the ranges mean nothing.
  axis_range x, y;

  void include(const std::vector<curve_point>& points) {
    for (const auto& p : points) {
      if (!is_drawable(p))
        continue;
      if (empty) {
        x = {p.x, p.x};
        y = {p.y, p.y};
        empty = false;
      }
      x.include(p.x);
      y.include(p.y);
    }
  }
};

} // namespace potluck
