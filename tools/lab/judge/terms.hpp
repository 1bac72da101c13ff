/// What kind of run it is that its promises are held against.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "tools/lab/scenario/scenario.hpp"

namespace potluck {

struct terms {
  std::uint64_t steps = 0; ///< That the run is to take.
  std::uint64_t target_batch = 1;
  expectation expects = {};
  bool rounded = false; ///< Gradients or means, on the way (packing).
  /// Groups are redrawn for every step: then peers hold different parameters
  /// after it.
  bool redraws = false;
  /// And no further apart than this part of their length
  /// (runtime/ways/moshpit); 0 where nobody sees them.
  double most_drift = 0;
  /// Updates that an expert may go back by when its host crashes or changes.
  std::uint64_t expert_may_lose = 0;
  /// A peer that was cut off may have gone on alone and given its steps up
  /// later: states are compared when all is known.
  bool may_give_up = false;
  /// (may_give_up) Faults part peers for a while, and one side may be killed
  /// before it hears of the other.
  bool may_part = false;
  /// Honest peers, as `short_name`s that events mention; with `all_honest`,
  /// everybody is.
  std::set<std::string> honest = {};
  bool all_honest = false;
};

} // namespace potluck
