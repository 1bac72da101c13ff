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
/// Values that are looked at side by side: eight of AVX2's registers.
constexpr std::size_t lanes = 64;

} // namespace

POTLUCK_WIDE std::uint32_t largest_magnitude(const float* values,
                                             std::size_t count) {
  static_assert(sizeof(float) == sizeof(std::int32_t));
  // Several at a time: each of a single one would wait for the one before.
  // Signed, since that is what AVX2 compares.
  std::int32_t largest[lanes] = {};
  std::int32_t bits;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) {
      std::memcpy(&bits, values + i + k, sizeof(bits));
      largest[k] = std::max(largest[k], bits & magnitude);
    }
  for (; i < count; ++i) {
    std::memcpy(&bits, values + i, sizeof(bits));
    largest[0] = std::max(largest[0], bits & magnitude);
  }
  return static_cast<std::uint32_t>(
      *std::max_element(largest, largest + lanes));
}

bool all_within(const float* values, std::size_t count, float most) {
  std::uint32_t limit;
  std::memcpy(&limit, &most, sizeof(limit));
  return largest_magnitude(values, count) <= limit;
}

bool all_finite(const float* values, std::size_t count) {
  return all_within(values, count, std::numeric_limits<float>::max());
}

POTLUCK_WIDE void add(float* sum, const float* a, const float* b,
                      std::size_t count, float factor) {
#pragma GCC ivdep // `sum` may be `a`, but nothing is read after it was written.
  for (std::size_t i = 0; i < count; ++i)
    sum[i] = (a[i] + b[i]) * factor;
}

void add_to(float* sum, const float* values, std::size_t count) {
  add(sum, sum, values, count);
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
