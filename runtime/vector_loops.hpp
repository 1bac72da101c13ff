/// The loops over every value of every gradient, each in one pass over memory.
///
/// On x86-64 they are compiled for AVX2 as well, and the processor decides.
/// All are done value by value and contract no operations, so the results have
/// the same bits everywhere.
#pragma once

#include <cstddef>

namespace potluck {

/// False when any of the `count` values is NaN or infinite: the guard in front
/// of everything that peers send. Looks at exponents instead of calling
/// std::isfinite, so that it survives -ffast-math.
bool all_finite(const float* values, std::size_t count);

/// The same of any value that is not a number between -most and most.
bool all_within(const float* values, std::size_t count, float most);

/// sum[i] += values[i]. The two must not overlap.
void add_to(float* sum, const float* values, std::size_t count);

/// values[i] *= factor.
void scale(float* values, std::size_t count, float factor);

/// out[i] = values[i], and whether all of them are finite. The two must not
/// overlap.
bool copy_finite(float* out, const float* values, std::size_t count);

} // namespace potluck
