/// Which members of a group pack what they send, so that no line that would
/// hold up the exchange is left to do so, and no other value is rounded.
#pragma once

#include <vector>

#include "messages/packing.hpp"
#include "runtime/planning/collaboration.hpp"

namespace potluck {

struct packing_choice {
  std::vector<packing> packings; ///< Of what each member sends.
  double seconds = 0; ///< Of the exchange, if bandwidth alone limits it.
};

/// Each member's parts and means go out in one packing, since all holders of
/// the model need the same bits of a mean. The exchange may take as long as it
/// would with all values as int8, or as `exchange_allowance` says if that is
/// longer; within that time members send float32 where it fits, else float16,
/// else int8, those with the fastest uplinks first.
/// @param shares Of the gradient that each member averages, summing to 1.
packing_choice choose_packings(const collaboration& input,
                               const std::vector<double>& shares);

/// Seconds that an exchange may take before it is worth rounding anything: a
/// twentieth of computing the step, or nine tenths of it where the next step is
/// computed meanwhile.
double exchange_allowance(const collaboration& input);

} // namespace potluck
