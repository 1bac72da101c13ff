/// Seeded chance that gives the same numbers on every machine.
///
/// The standard library's distributions differ between vendors, and a run must
/// be replayable from its seed; so generator and distributions are our own.
/// Not for secrets: the state can be computed from a few outputs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "messages/ids.hpp"

namespace potluck {

/// Derives a seed from two numbers, for instance from a run's seed and a peer's
/// place in it. The order of the arguments matters.
std::uint64_t mix(std::uint64_t a, std::uint64_t b);

/// A peer's own seed: another for each, the same on every machine.
std::uint64_t seed_of(const peer_id& id);

/// xoshiro256** (Blackman and Vigna 2018), seeded through splitmix64 (Steele,
/// Lea and Flood 2014).
class random_stream {
public:
  /// Any seed is good, zero included.
  explicit random_stream(std::uint64_t seed);

  /// Continues from a generator's state. Throws when all four words are zero,
  /// from where only zeros would follow.
  explicit random_stream(const std::array<std::uint64_t, 4>& state);

  /// 64 uniform bits.
  std::uint64_t next();

  /// A uniform number from 0 to n - 1, without bias. Throws when `n` is zero.
  std::uint64_t below(std::uint64_t n);

  /// A uniform number in [0, 1), a multiple of 2^-53.
  double uniform01();

  /// Overwrites `size` bytes with uniform ones; the bytes do not depend on the
  /// machine's byte order.
  void fill(std::uint8_t* data, std::size_t size);

  /// A uniform identifier (see messages/ids.hpp).
  template <class Id>
  Id draw() {
    Id x;
    fill(x.bytes.data(), x.bytes.size());
    return x;
  }

  /// Puts `items` into a uniform order (Fisher-Yates, from the back).
  template <class T>
  void shuffle(std::vector<T>& items) {
    using std::swap;
    for (std::size_t left = items.size(); left > 1; --left)
      swap(items[left - 1], items[below(left)]);
  }

private:
  std::array<std::uint64_t, 4> state_;
};

} // namespace potluck
