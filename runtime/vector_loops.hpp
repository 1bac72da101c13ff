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

/// sum[i] += values[i] * factor, rounded after both. The two must not overlap.
void add_scaled(float* sum, const float* values, std::size_t count,
                float factor);

/// sum[i] = (a[i] + b[i]) * factor, rounded after both. `sum` may be `a`, and
/// overlaps the others in no other way.
void add(float* sum, const float* a, const float* b, std::size_t count,
         float factor = 1);

/// values[i] *= factor.
void scale(float* values, std::size_t count, float factor);

/// A vector of so many values is in no cache when it is next read.
constexpr std::size_t values_beyond_caches = 4 * 1024 * 1024;

/// How values are written: as usual, or, where nobody reads them before they
/// would be out of the caches again, past these: then memory is not read first,
/// and what is in use stays there.
enum class writing { cached, past_caches };

/// The way to write a piece of a vector of `whole` values.
constexpr writing writing_of(std::size_t whole) {
  return whole >= values_beyond_caches ? writing::past_caches : writing::cached;
}

/// out[i] = values[i]. The two must not overlap.
void copy(float* out, const float* values, std::size_t count, writing how);

/// The same, and whether all values are finite.
bool copy_finite(float* out, const float* values, std::size_t count,
                 writing how = writing::cached);

/// out[i] = values[i] * factor, and whether all values are within `most`. The
/// two must not overlap.
bool scale_within(float* out, const float* values, std::size_t count,
                  float factor, float most, writing how = writing::cached);

/// What `add_scaled` makes of zeros, and whether all values are finite: if they
/// are not, `out` is anything.
bool begin_scaled(float* out, const float* values, std::size_t count,
                  float factor, writing how = writing::cached);

} // namespace potluck
