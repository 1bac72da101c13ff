/// What the rules' loops share, so that they give the same bits everywhere:
/// sums in a fixed order, powers by multiplication.
///
/// Nothing here or in the rules calls a math library: IEEE 754 defines + - * /
/// and the square root to the bit, and nothing else.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "runtime/wide_loops.hpp"

#ifdef __FAST_MATH__
#error "Compile without -ffast-math: peers would compute different bits."
#endif
static_assert(__FLT_EVAL_METHOD__ == 0,
              "floats must be computed as floats (on x86: -msse2)");

namespace potluck {

/// Independent partial sums, so that the compiler may use vector registers.
constexpr std::size_t sum_lanes = 8;

/// Sum of the squares of `value(i)` for i from 0 to `size` - 1, each a float
/// that is widened before it is squared. To be called from a function that is
/// POTLUCK_WIDE.
template <class Value>
inline __attribute__((always_inline)) double sum_of_squares(std::size_t size,
                                                            Value value) {
  double partial[sum_lanes] = {};
  float of[sum_lanes];
  const std::size_t whole = size / sum_lanes * sum_lanes;
  for (std::size_t i = 0; i < whole; i += sum_lanes) {
    for (std::size_t lane = 0; lane < sum_lanes; ++lane)
      of[lane] = value(i + lane);
    for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
      const double x = of[lane];
      partial[lane] += x * x;
    }
  }
  for (std::size_t i = whole; i < size; ++i) {
    const double x = value(i);
    partial[i - whole] += x * x;
  }
  double sum = 0;
  for (double x : partial)
    sum += x;
  return sum;
}

/// Of one block.
double block_squares(const float* values, std::size_t size);

/// `base` to the power of `exponent`, by squaring: std::pow differs between
/// math libraries.
double exact_power(double base, std::uint64_t exponent);

} // namespace potluck
