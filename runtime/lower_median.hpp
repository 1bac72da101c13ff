/// The median that a minority cannot move far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace potluck {

/// Of an even number the lower one of the two in the middle: an element, so
/// that half of them or more are not larger, and a minority of hostile ones
/// cannot raise it far. 0 of nothing. None may be NaN.
inline double lower_median(std::vector<double> xs) {
  if (xs.empty())
    return 0;
  auto middle = xs.begin() + static_cast<std::ptrdiff_t>((xs.size() - 1) / 2);
  std::nth_element(xs.begin(), middle, xs.end());
  return *middle;
}

} // namespace potluck
