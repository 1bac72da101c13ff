/// Shuffled order without a shuffle: where each of n numbers goes, computed.
#pragma once

#include <cstdint>

namespace potluck {

/// A permutation of 0 to n - 1 that is computed instead of stored: a Feistel
/// network of four rounds over the next even number of bits, walked until it
/// leads back below n (Black and Rogaway 2002).
class permutation {
public:
  /// @param n Not zero, at most 2^62.
  permutation(std::uint64_t n, std::uint64_t seed);

  /// Where `x` goes. Precondition: x < n.
  std::uint64_t operator()(std::uint64_t x) const;

private:
  std::uint64_t once(std::uint64_t x) const;

  std::uint64_t n_;
  std::uint64_t seed_;
  unsigned half_bits_ = 1;
};

} // namespace potluck
