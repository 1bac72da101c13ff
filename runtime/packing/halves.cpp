#include "runtime/packing/halves.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/packing/float_bits.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define POTLUCK_HALVES
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace potluck {

namespace {

/// Of a float below 65520, rounded to nearest, ties to even.
inline std::uint16_t half_of(float x) {
  auto bits = bits_of(x);
  auto sign = bits & sign_mask;
  bits ^= sign;
  // Normal halves: the exponent moves by 112, thirteen bits are rounded away.
  auto odd = (bits >> 13) & 1;
  auto normal = (bits - (112u << 23) + 0xfffu + odd) >> 13;
  // Subnormal ones: the addition of 0.5 has their last bit as its own.
  auto small = bits_of(float_of(bits) + 0.5f) - bits_of(0.5f);
  auto half = bits < (113u << 23) ? small : normal;
  return static_cast<std::uint16_t>(half | (sign >> 16));
}

inline float float_of_half(std::uint16_t half) {
  std::uint32_t magnitude = half & 0x7fffu;
  std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
  auto normal = (magnitude << 13) + (112u << 23);
  auto small = bits_of(float_of((113u << 23) + (magnitude << 13))
                       - float_of(113u << 23));
  return float_of((magnitude < 0x400u ? small : normal) | sign);
}

/// The largest half below 2^15. Nothing is rounded beyond, which the largest
/// scale would make infinite.
constexpr std::uint16_t largest_half = 0x77ff;

void to_halves_plainly(const float* values, std::size_t count, float factor,
                       std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    auto half = half_of(values[i] * factor);
    auto sign = static_cast<std::uint16_t>(half & 0x8000u);
    half = std::min<std::uint16_t>(half & 0x7fffu, largest_half) | sign;
    std::memcpy(out + 2 * i, &half, sizeof(half));
  }
}

/// @returns Whether all are finite.
bool from_halves_plainly(const std::uint8_t* bytes, std::size_t count,
                         float scale, float* out) {
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t half;
    std::memcpy(&half, bytes + 2 * i, sizeof(half));
    bad |= static_cast<std::uint32_t>((half & 0x7c00u) == 0x7c00u);
    out[i] = float_of_half(half) * scale;
  }
  return bad == 0;
}

#ifdef POTLUCK_HALVES
// The processor's own conversions, which round as ours do.

constexpr std::size_t lanes = 8;

/// Clang 14 cannot ask `__builtin_cpu_supports` for f16c.
bool has_halves() {
  static const bool result = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d)
           && (c & bit_F16C) != 0;
  }();
  return result;
}

__attribute__((target("avx2,f16c"))) void to_halves_widely(const float* values,
                                                           std::size_t count,
                                                           float factor,
                                                           std::uint8_t* out) {
  auto by = _mm256_set1_ps(factor);
  auto signs = _mm_set1_epi16(static_cast<short>(0x8000));
  auto most = _mm_set1_epi16(static_cast<short>(largest_half));
  for (std::size_t i = 0; i < count; i += lanes) {
    auto x = _mm256_mul_ps(_mm256_loadu_ps(values + i), by);
    auto half = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    auto magnitude = _mm_min_epu16(_mm_andnot_si128(signs, half), most);
    half = _mm_or_si128(magnitude, _mm_and_si128(signs, half));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i), half);
  }
}

__attribute__((target("avx2,f16c"))) bool
from_halves_widely(const std::uint8_t* bytes, std::size_t count, float scale,
                   float* out) {
  auto by = _mm256_set1_ps(scale);
  auto mask = _mm_set1_epi16(0x7c00);
  auto bad = _mm_setzero_si128();
  for (std::size_t i = 0; i < count; i += lanes) {
    auto half
        = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 2 * i));
    bad = _mm_or_si128(bad, _mm_cmpeq_epi16(_mm_and_si128(half, mask), mask));
    _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_cvtph_ps(half), by));
  }
  return _mm_testz_si128(bad, bad) != 0;
}
#endif

} // namespace

float half_scale(std::uint32_t largest) {
  // 2^-126 to 2^127: every scale and its reciprocal is normal.
  auto exponent
      = std::max<std::int32_t>(static_cast<std::int32_t>(largest >> 23), 15);
  return largest == 0
             ? 0.0f
             : float_of(static_cast<std::uint32_t>(exponent - 14) << 23);
}

void to_halves(const float* values, std::size_t count, float factor,
               std::uint8_t* out) {
  std::size_t done = 0;
#ifdef POTLUCK_HALVES
  if (has_halves()) {
    done = count / lanes * lanes;
    to_halves_widely(values, done, factor, out);
  }
#endif
  to_halves_plainly(values + done, count - done, factor, out + 2 * done);
}

bool from_halves(const std::uint8_t* bytes, std::size_t count, float scale,
                 float* out) {
  std::size_t done = 0;
  bool well = true;
#ifdef POTLUCK_HALVES
  if (has_halves()) {
    done = count / lanes * lanes;
    well = from_halves_widely(bytes, done, scale, out);
  }
#endif
  return from_halves_plainly(bytes + 2 * done, count - done, scale, out + done)
         && well;
}

} // namespace potluck
