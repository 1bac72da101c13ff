#include "runtime/step/step_pace.hpp"

#include <utility>

#include "runtime/config.hpp"

namespace potluck {

std::optional<contributor_pace> step_pace::begin_step(time_point now) {
  auto last = std::exchange(began_, now);
  if (!std::exchange(in_a_step_, true))
    return std::nullopt;
  return keep(now - last);
}

std::optional<contributor_pace> step_pace::look(time_point now) {
  if (since(now) <= 2 * step_)
    return std::nullopt;
  return keep(since(now));
}

std::optional<contributor_pace> step_pace::keep(duration step) {
  step_ = step;
  auto pace = pace_of(step);
  if (pace == pace_)
    return std::nullopt;
  return pace_ = pace;
}

duration step_pace::longest_batch(bool contributes, time_point now) const {
  return contributes ? longest_batch_now(pace_, since(now), asked_after_)
                     : duration{limits::longest_batch};
}

duration step_pace::next_look(bool contributes, const peer_id& self,
                              time_point now) const {
  return contributes ? until_next_look(now, pace_.look, self)
                     : duration{limits::conductor_interval};
}

} // namespace potluck
