/// The time that people go by, as `peer_config::wall_clock` wants it.
#pragma once

#include <chrono>
#include <cstdint>

namespace potluck {

/// Milliseconds since 1970, by this machine's clock.
inline std::uint64_t wall_clock_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

} // namespace potluck
