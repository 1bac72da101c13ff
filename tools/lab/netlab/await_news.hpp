/// The time, and waiting for descriptors until then.
#pragma once

#include <algorithm>
#include <optional>
#include <poll.h>
#include <vector>

#include "runtime/clock.hpp"

namespace potluck::netlab {

inline time_point now() {
  return std::chrono::steady_clock::now();
}

/// Waits for one of `waits`, until `until` at most; without, for as long as it
/// takes.
inline void await_news(std::vector<pollfd>& waits,
                       const std::optional<time_point>& until) {
  timespec patience{};
  if (until) {
    auto left = std::max(*until - now(), duration{0});
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    patience = {static_cast<time_t>(seconds.count()),
                static_cast<long>((left - seconds).count())};
  }
  ::ppoll(waits.data(), waits.size(), until ? &patience : nullptr, nullptr);
}

} // namespace potluck::netlab
