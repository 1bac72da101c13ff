/// The peak stays.
#include "runtime/optimizer/schedules/schedule.hpp"

namespace potluck::tails {

namespace {

double constant_rate(double peak, std::uint64_t, std::uint64_t, std::uint64_t) {
  return peak;
}

} // namespace

extern const schedule constant{"constant", "stays at the peak", false,
                               constant_rate};

} // namespace potluck::tails
