/// Bytes for tests of encryption.
#pragma once

#include <initializer_list>

#include "runtime/random.hpp"
#include "runtime/recycled_memory.hpp"

namespace potluck {

using bytes = byte_array;

inline bytes noise(std::size_t size, std::uint64_t seed) {
  random_stream chance{seed};
  bytes x(size);
  for (auto& b : x)
    b = static_cast<std::uint8_t>(chance.below(256));
  return x;
}

/// In this order, also if they are made only now.
inline bytes join(std::initializer_list<bytes> parts) {
  bytes all;
  for (const auto& x : parts)
    all.insert(all.end(), x.begin(), x.end());
  return all;
}

} // namespace potluck
