/// How long steps take, and what goes by that: how often this peer looks around
/// and how long its batches are.
///
/// Contributors go by parts of a step (runtime/ways/cells), everybody else by
/// constants. Pure.
#pragma once

#include <optional>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"
#include "runtime/ways/cells/contributor_pace.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks of a peer that does not contribute.
constexpr auto conductor_interval = 50ms;

} // namespace potluck::limits

namespace potluck {

class step_pace {
public:
  explicit step_pace(time_point now) : began_(now) {
  }

  /// Each of these returns the pace if it changes.
  std::optional<contributor_pace> begin_step(time_point now);
  /// The first step of a run, and one that lacks people, take long as well.
  std::optional<contributor_pace> look(time_point now);

  const contributor_pace& pace() const {
    return pace_;
  }
  /// Since the step began.
  duration since(time_point now) const {
    return now - began_;
  }
  /// What the last step took, or this one if it lasts.
  duration step() const {
    return step_;
  }
  /// A sponsor asks this contributor for its gradient.
  void asked(time_point now) {
    asked_after_ = since(now);
  }

  /// That a batch may take from now on.
  duration longest_batch(bool contributes, time_point now) const;
  /// Until this peer looks around again.
  duration next_look(bool contributes, const peer_id& self,
                     time_point now) const;

private:
  std::optional<contributor_pace> keep(duration step);

  time_point began_;
  bool in_a_step_ = false;
  contributor_pace pace_; ///< By the last step, or this one if it lasts.
  /// See `step`. At first as long as the shortest look is made for.
  duration step_ = limits::looks_a_step * limits::shortest_look;
  /// (contributor) How far into the last step its gradient was asked for.
  std::optional<duration> asked_after_;
};

} // namespace potluck
