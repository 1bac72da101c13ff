#include "runtime/vector_loops.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "runtime/wide_loops.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

POTLUCK_WIDE void add_scaled(float* sum, const float* values, std::size_t count,
                             float factor) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i)
    sum[i] += values[i] * factor;
}

POTLUCK_WIDE void scale(float* values, std::size_t count, float factor) {
  for (std::size_t i = 0; i < count; ++i)
    values[i] *= factor;
}

#ifdef __SSE2__
namespace {

/// Values of a line of the caches. Only whole ones are written past them.
constexpr std::size_t line = 16;

void copy_past_caches(float* out, const float* values, std::size_t count) {
  auto into = reinterpret_cast<std::uintptr_t>(out) / sizeof(float) % line;
  auto i = std::min(count, into == 0 ? 0 : line - into);
  std::memcpy(out, values, i * sizeof(float));
  for (; i + line <= count; i += line)
    for (std::size_t k = 0; k < line; k += 4)
      _mm_stream_ps(out + i + k, _mm_loadu_ps(values + i + k));
  std::memcpy(out + i, values + i, (count - i) * sizeof(float));
  _mm_sfence(); // Whoever is told that they are there finds them.
}

} // namespace
#endif

void copy(float* out, const float* values, std::size_t count,
          [[maybe_unused]] writing how) {
#ifdef __SSE2__
  if (how == writing::past_caches)
    return copy_past_caches(out, values, count);
#endif
  std::memcpy(out, values, count * sizeof(float));
}

bool copy_finite(float* out, const float* values, std::size_t count,
                 writing how) {
  bool well = true;
  for (std::size_t done = 0; done < count; done += block) {
    auto size = std::min(block, count - done);
    well &= all_finite(values + done, size);
    copy(out + done, values + done, size, how);
  }
  return well;
}

namespace {

POTLUCK_WIDE void multiply(float* out, const float* values, std::size_t count,
                           float factor) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i)
    out[i] = values[i] * factor;
}

POTLUCK_WIDE void multiply_onto_zeros(float* out, const float* values,
                                      std::size_t count, float factor) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i)
    out[i] = 0.0f + values[i] * factor; // Of two zeros' signs it is not one's.
}

/// `loop` over what was looked at, while it lies in the first-level cache.
template <class Loop>
bool made_within(float* out, const float* values, std::size_t count, float most,
                 writing how, Loop loop) {
  float made[block];
  bool well = true;
  for (std::size_t done = 0; done < count; done += block) {
    const auto size = std::min(block, count - done);
    well &= all_within(values + done, size, most);
    if (how == writing::cached) {
      loop(out + done, values + done, size);
      continue;
    }
    loop(made, values + done, size);
    copy(out + done, made, size, how);
  }
  return well;
}

} // namespace

bool scale_within(float* out, const float* values, std::size_t count,
                  float factor, float most, writing how) {
  return made_within(out, values, count, most, how,
                     [factor](float* to, const float* from, std::size_t size) {
                       multiply(to, from, size, factor);
                     });
}

bool begin_scaled(float* out, const float* values, std::size_t count,
                  float factor, writing how) {
  return made_within(out, values, count, std::numeric_limits<float>::max(), how,
                     [factor](float* to, const float* from, std::size_t size) {
                       multiply_onto_zeros(to, from, size, factor);
                     });
}

} // namespace potluck
