/// A fall with the square root of the steps (Vaswani et al. 2017, arXiv
/// 1706.03762, section 5.3). Where the run ends does not matter.
#include <algorithm>
#include <cmath>

#include "runtime/optimizer/schedules/schedule.hpp"

namespace potluck::tails {

namespace {

double inverse_sqrt_rate(double peak, std::uint64_t begin, std::uint64_t,
                         std::uint64_t step) {
  const auto peaked = static_cast<double>(std::max<std::uint64_t>(begin, 1));
  return peak * std::sqrt(peaked / static_cast<double>(step));
}

} // namespace

extern const schedule inverse_sqrt{"inverse-sqrt",
                                   "falls with the square root of the steps",
                                   false, inverse_sqrt_rate};

} // namespace potluck::tails
