/// A copy of a body as a real transport would hand it over.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include "messages/message.hpp"

namespace potluck {

/// A receiver never shares memory with the sender, and finds its bytes aligned
/// to 64, as `incoming_frame` promises. Nothing for nothing.
inline shared_bytes aligned_copy(const shared_bytes& x) {
  if (x.size == 0)
    return {};
  auto size = (x.size + 63) / 64 * 64;
  std::shared_ptr<void> bytes{std::aligned_alloc(64, size), std::free};
  std::memcpy(bytes.get(), x.data, x.size);
  return {bytes, static_cast<const std::uint8_t*>(bytes.get()), x.size};
}

} // namespace potluck
