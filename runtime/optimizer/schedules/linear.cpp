/// A straight fall.
#include "runtime/optimizer/schedules/schedule.hpp"

namespace potluck::tails {

namespace {

double linear_rate(double peak, std::uint64_t begin, std::uint64_t end,
                   std::uint64_t step) {
  return peak * static_cast<double>(end - step + 1)
         / static_cast<double>(end - begin + 1);
}

} // namespace

extern const schedule linear{"linear", "falls linearly to zero", true,
                             linear_rate};

} // namespace potluck::tails
