/// Logarithm, exponential and a normal variable with the same bits everywhere.
///
/// The C library's `log` and `exp` differ in the last bit between versions and
/// processors; what is drawn from a seed must not. These use only operations
/// that IEEE 754 rounds exactly (+ - * / sqrt) and exact scalings, and the
/// project never fuses them.
#pragma once

#include "runtime/random.hpp"

namespace potluck {

/// The natural logarithm, within 4 units in the last place. Throws unless `x`
/// is finite and above zero.
double portable_log(double x);

/// e to the power of `x`, within 1e-14 of it; 0 below -700, and the value at
/// 700 above that.
double portable_exp(double x);

/// A standard normal variable (Marsaglia and Bray's polar method 1964; the
/// second variable of each pair is not used). At most about 8.6 in magnitude.
double portable_normal(random_stream& chance);

} // namespace potluck
