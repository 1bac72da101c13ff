/// The loops over every value of every gradient, each in one pass over memory.
///
/// On x86-64 they are compiled for AVX2 as well, and the processor decides.
/// All are done value by value and contract no operations, so the results have
/// the same bits everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace potluck {

/// Of `count` values the largest magnitude's bits, which are in the magnitudes'
/// order, an infinity's and a NaN's above all. 0 for none.
std::uint32_t largest_magnitude(const float* values, std::size_t count);

/// False when any of the `count` values is NaN or infinite: the guard in front
/// of everything that peers send. Looks at exponents instead of calling
/// std::isfinite, so that it survives -ffast-math.
bool all_finite(const float* values, std::size_t count);

/// The same of any value that is not a number between -most and most.
bool all_within(const float* values, std::size_t count, float most);

/// sum[i] += values[i]. The two must not overlap.
void add_to(float* sum, const float* values, std::size_t count);

/// sum[i] = (a[i] + b[i]) * factor, rounded after both. `sum` may be `a`, and
/// overlaps the others in no other way.
void add(float* sum, const float* a, const float* b, std::size_t count,
         float factor = 1);

/// values[i] *= factor.
void scale(float* values, std::size_t count, float factor);

/// out[i] = values[i], and whether all of them are finite. The two must not
/// overlap.
bool copy_finite(float* out, const float* values, std::size_t count);

} // namespace potluck
