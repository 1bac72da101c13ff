/// A float's bits, and back (IEEE 754 binary32).
#pragma once

#include <cstdint>
#include <cstring>

namespace potluck {

constexpr std::uint32_t exponent_mask = 0x7f800000u;
constexpr std::uint32_t sign_mask = 0x80000000u;

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

inline float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

} // namespace potluck
