#include "runtime/optimizer/exact_loops.hpp"

namespace potluck {

POTLUCK_WIDE double block_squares(const float* values, std::size_t size) {
  return sum_of_squares(size, [=](std::size_t i) { return values[i]; });
}

double exact_power(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1)
      result *= base;
    base *= base;
  }
  return result;
}

} // namespace potluck
