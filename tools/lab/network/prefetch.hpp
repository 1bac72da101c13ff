/// Memory asked for before it is needed.
///
/// A turn finds its machine's memory cold, and reads most of it by pointers,
/// one after the other: each time it would wait for as long as a hundred
/// instructions take.
#pragma once

#include <cstddef>

namespace potluck {

inline void prefetch(const void* first, std::size_t bytes) {
  constexpr std::size_t line = 64;
  auto at = static_cast<const char*>(first);
  for (std::size_t i = 0; i < bytes; i += line)
    __builtin_prefetch(at + i);
}

} // namespace potluck
