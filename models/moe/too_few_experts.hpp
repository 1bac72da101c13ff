/// Thrown where samples need experts that do not answer. Free of LibTorch.
#pragma once

#include <stdexcept>

namespace potluck {

/// A sample had fewer than `k_min` answers; the sentence says why. May mend
/// itself: experts come back, or others take their place.
class too_few_experts : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace potluck
