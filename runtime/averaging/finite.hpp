/// Whether floats are numbers: the guard in front of everything that peers
/// send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace potluck {

/// False when any of the `count` values is NaN or infinite. Looks at exponents
/// instead of calling std::isfinite, so that it vectorises and survives
/// -ffast-math.
inline bool all_finite(const float* values, std::size_t count) {
  static_assert(sizeof(float) == sizeof(std::uint32_t));
  constexpr std::uint32_t exponent = 0x7f800000u;
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    bad |= static_cast<std::uint32_t>((bits & exponent) == exponent);
  }
  return bad == 0;
}

} // namespace potluck
