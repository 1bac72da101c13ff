/// An actor's one alarm, by which it looks at what is due: it rings no later
/// than the earliest time that was asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "actors/mailbox.hpp"

namespace potluck {

class alarm_clock {
public:
  /// @param self The actor, which gets a `deadline_passed`.
  template <class Self>
  void set(Self* self, time_point at) {
    if (at_ && *at_ <= at)
      return; // The one that is set comes first, and the actor looks again.
    at_ = at;
    self->delayed_send(
        self, std::max(duration{0}, duration{at - self->clock().now()}),
        deadline_passed{++number_});
  }

  /// Whether it is the one that is set. From here on none is.
  bool rings(const deadline_passed& x) {
    if (x.number != number_)
      return false;
    at_.reset();
    return true;
  }

private:
  std::optional<time_point> at_;
  std::uint64_t number_ = 0;
};

} // namespace potluck
