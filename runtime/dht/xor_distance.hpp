/// Kademlia's metric: the distance of two points of the 256-bit space is their
/// bitwise XOR, read as a big-endian number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "messages/ids.hpp"

namespace potluck {

/// Bits of a point, so buckets of a routing table.
constexpr std::size_t point_bits = 256;

/// How far two points are apart; zero only for a point and itself.
struct xor_distance {
  std::array<std::uint8_t, 32> bytes{};

  friend bool operator==(const xor_distance& a, const xor_distance& b) {
    return a.bytes == b.bytes;
  }
  friend bool operator!=(const xor_distance& a, const xor_distance& b) {
    return !(a == b);
  }
  friend bool operator<(const xor_distance& a, const xor_distance& b) {
    return a.bytes < b.bytes;
  }
};

/// As a part of the whole space, from 0 to 1; to 53 bits, which tell apart more
/// nodes than there will be.
inline double part_of_space(const xor_distance& x) {
  double result = 0;
  for (std::size_t i = 8; i > 0; --i)
    result = (result + x.bytes[i - 1]) / 256;
  return result;
}

/// A peer's place in the space where records live.
inline record_key point_of(const peer_id& id) {
  record_key point;
  point.bytes = id.bytes;
  return point;
}

/// Either argument may be a `peer_id` or a `record_key`.
template <class A, class B>
xor_distance distance_between(const A& a, const B& b) {
  static_assert(A::size == 32 && B::size == 32, "points have 256 bits");
  xor_distance result;
  for (std::size_t i = 0; i < 32; ++i)
    result.bytes[i] = static_cast<std::uint8_t>(a.bytes[i] ^ b.bytes[i]);
  return result;
}

/// True when `a` is strictly closer to `target` than `b` is.
template <class Target, class Point>
bool closer(const Target& target, const Point& a, const Point& b) {
  static_assert(Target::size == 32 && Point::size == 32, "256-bit points");
  for (std::size_t i = 0; i < 32; ++i)
    if (a.bytes[i] != b.bytes[i])
      return (a.bytes[i] ^ target.bytes[i]) < (b.bytes[i] ^ target.bytes[i]);
  return false;
}

/// How many leading bits the points share, 0 to 256: the index of the bucket in
/// which one keeps the other; 256 says that they are equal and share no bucket.
template <class A, class B>
std::size_t common_prefix_bits(const A& a, const B& b) {
  static_assert(A::size == 32 && B::size == 32, "points have 256 bits");
  for (std::size_t i = 0; i < 32; ++i) {
    auto difference = static_cast<unsigned>(a.bytes[i] ^ b.bytes[i]);
    if (difference == 0)
      continue;
    std::size_t bits = 8 * i;
    while ((difference & 0x80u) == 0) {
      difference <<= 1;
      ++bits;
    }
    return bits;
  }
  return point_bits;
}

} // namespace potluck
