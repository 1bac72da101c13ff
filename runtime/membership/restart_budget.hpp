/// How often something may be restarted before its owner gives up on it.
#pragma once

#include <cstddef>
#include <deque>

#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Restarts within the window before a peer gives up: a fault that comes back
/// at once is not mended by another restart.
constexpr std::size_t restarts = 8;
constexpr auto restart_window = 60s;

} // namespace potluck::limits

namespace potluck {

class restart_budget {
public:
  /// At most `restarts` within any time span shorter than `window`.
  restart_budget(std::size_t restarts, duration window)
      : restarts_(restarts), window_(window) {
  }

  /// True when one more restart is within the budget, which it then takes. A
  /// refused restart takes nothing. `now` must not run backwards.
  bool allow(time_point now) {
    while (!taken_.empty() && now - taken_.front() >= window_)
      taken_.pop_front();
    if (taken_.size() >= restarts_)
      return false;
    taken_.push_back(now);
    return true;
  }

private:
  std::size_t restarts_;
  duration window_;
  std::deque<time_point> taken_;
};

} // namespace potluck
