#include "runtime/vector_loops.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "runtime/wide_loops.hpp"

namespace potluck {

namespace {

constexpr std::int32_t magnitude = 0x7fffffff;
/// What is looked at before it is copied still lies in the first-level cache.
constexpr std::size_t block = 2048;

} // namespace

POTLUCK_WIDE bool all_within(const float* values, std::size_t count,
                             float most) {
  static_assert(sizeof(float) == sizeof(std::uint32_t));
  // Magnitudes are in the order of their bits, and NaNs above all. Signed,
  // since that is what AVX2 compares.
  std::int32_t limit;
  std::memcpy(&limit, &most, sizeof(limit));
  std::int32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    bad |= static_cast<std::int32_t>((bits & magnitude) > limit);
  }
  return bad == 0;
}

bool all_finite(const float* values, std::size_t count) {
  return all_within(values, count, std::numeric_limits<float>::max());
}

POTLUCK_WIDE void add_to(float* __restrict sum, const float* __restrict values,
                         std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    sum[i] += values[i];
}

POTLUCK_WIDE void scale(float* values, std::size_t count, float factor) {
  for (std::size_t i = 0; i < count; ++i)
    values[i] *= factor;
}

bool copy_finite(float* out, const float* values, std::size_t count) {
  bool well = true;
  for (std::size_t done = 0; done < count; done += block) {
    auto size = std::min(block, count - done);
    well &= all_finite(values + done, size);
    std::memcpy(out + done, values + done, size * sizeof(float));
  }
  return well;
}

} // namespace potluck
