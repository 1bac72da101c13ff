/// What the kernel knows of a TCP connection. Apart from the rest, since
/// Linux's header and libuv's exclude each other.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/clock.hpp"

namespace potluck {

struct kernel_view {
  std::uint64_t arrived = 0;   ///< Bytes, since the beginning, nearly.
  bool unsent = false;         ///< Something waits to be sent.
  bool unacknowledged = false; ///< Something is on its way.
  duration busy{0};            ///< With either, since the beginning.
  duration round_trip{0};
};

/// Nothing where the system does not tell.
std::optional<kernel_view> ask_kernel(int socket);

} // namespace potluck
