/// How far a run counts on its auxiliaries: which of them the next group is to
/// have, and how much of what they say of their lines counts in its plan.
///
/// An auxiliary costs nobody anything, so there may be any number of liars. It
/// begins with few chunks, and counts for more each time that it has averaged
/// them in time. One that has not begins anew; and after a round that waited
/// for one, no new one is tried for many times as long. Pure: all trainers see
/// the same rounds, so whoever leads next knows the same.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "messages/matchmaking.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/planning/share_plan.hpp"
#include "runtime/step/facts.hpp"

namespace potluck::limits {

/// Auxiliaries of a group: that many with lines of their own carry the parts of
/// more trainers than average together. Of these, such that prove themselves.
constexpr std::size_t most_helpers = 32;
constexpr std::size_t most_helpers_on_trial = 8;
/// All of these together count for the line of the median trainer; each for so
/// many times as much after a round with which it has kept up.
constexpr double trial_growth = 4;
/// Remembered.
constexpr std::size_t helpers_known = 1024;
/// No trial begins for so many times as long as the last failed one held a
/// round up: failures take a twentieth of the time at most.
constexpr int trial_rest = 19;

} // namespace potluck::limits

namespace potluck {

class helpers {
public:
  /// One that the next group is to have.
  struct chosen {
    peer_id who;
    /// Bytes a second of its line that count, both ways, at most.
    double most_line = 0;
  };

  /// @param there Auxiliaries that are connected. @param median Upload of a
  ///     trainer, in bytes per second. @param needed Nobody else can average:
  ///     then who has held a round up is tried again if no other is proven.
  std::vector<chosen> choose(const std::vector<progress_report>& there,
                             double median, time_point now,
                             bool needed = false);
  /// How a round with this plan went.
  void heard(const round_over& x, const share_plan& plan, time_point now);
  /// It has held a group up for so long.
  void distrust(const peer_id& who, duration held_up, time_point now);

private:
  std::map<peer_id, double> proven_; ///< As `chosen::most_line`.
  peer_id last_tried_;               ///< The others are tried before it.
  time_point no_trial_before_ = time_point::min();
};

} // namespace potluck
