/// The middle one of several values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace potluck {

/// Of an even number the lower one of the two, so that half of them cannot
/// raise it. `T{}` of nothing. None may be NaN.
template <class T>
T lower_median(std::vector<T> xs) {
  if (xs.empty())
    return T{};
  const auto middle
      = xs.begin() + static_cast<std::ptrdiff_t>((xs.size() - 1) / 2);
  std::nth_element(xs.begin(), middle, xs.end());
  return *middle;
}

/// Likewise the upper one, so that half of them cannot lower it.
template <class T>
T upper_median(std::vector<T> xs) {
  if (xs.empty())
    return T{};
  const auto middle = xs.begin() + static_cast<std::ptrdiff_t>(xs.size() / 2);
  std::nth_element(xs.begin(), middle, xs.end());
  return *middle;
}

} // namespace potluck
