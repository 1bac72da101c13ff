/// The stages of a peer's step, and the one table of what leads from one to
/// another.
///
///     starting -> accumulating -> frozen -> averaging -> applying -+
///                   ^   ^  ^________|__________|                   |
///                   |   |__________________________________________|
///                   +-- fetching <-- accumulating or finished; or starting,
///                                    and back, where the run's first state is
///                                    its founder's
#pragma once

#include <optional>

namespace potluck {

enum class stage {
  starting,     ///< Compute has not shown its state yet.
  accumulating, ///< Computing batches, or nothing left to compute.
  frozen,       ///< A group is being formed; the gradient does not change.
  averaging,    ///< In a round.
  applying,     ///< The optimizer step is under way.
  fetching,     ///< Downloading the state of a peer that is ahead.
  finished,     ///< The last step is applied.
};

/// What ends a stage.
enum class cause {
  state_shown, ///< Compute shows its state, and nobody asked for another.
  last_state,  ///< The same, and it is the run's last.
  group_asked, ///< This peer leads a group, or is invited to one.
  formed,      ///< The group's contract has come.
  came_apart,  ///< The group will not be.
  aborted,     ///< The round does not count.
  committed,   ///< The round counts, and its mean is here.
  behind,      ///< Others have a longer history.
  not_fetched, ///< It could not be had, and nothing of it came.
  last_kept,   ///< The same, at a peer that holds the run's last state.
  none_held,   ///< The same, at one that holds no state of the run yet.
};

/// Where `why` leads from `from`; nothing where it leads nowhere, for instance
/// because news crossed.
std::optional<stage> next_stage(stage from, cause why);

} // namespace potluck
