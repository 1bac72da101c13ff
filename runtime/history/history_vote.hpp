/// Which history counts where peers announce several: a vote, not the largest
/// number.
///
/// Pure functions. Who is asked, and what is remembered of whom, is
/// `own_history`'s.
#pragma once

#include <vector>

#include "messages/progress.hpp"
#include "runtime/history/electorates.hpp"

namespace potluck {

/// A total order of states, as they are claimed: more samples win; of equally
/// many the smaller digest.
bool better_history(const progress_report& a, const progress_report& b);

/// Where a peer stands, seen from here.
enum class stance {
  ours,  ///< Here, or on the way here.
  ahead, ///< At a later step, of this history or of another one.
  aside, ///< At a step that this peer has made, in another state.
};

/// What a trainer announces.
struct ballot {
  const progress_report* report = nullptr;
  stance where = stance::ours;
};

/// Whether those with a say have another history than `own`, by the weight that
/// each had in the last step that was made with any of the others.
/// @param redrawn Every step is made with others, so all that are remembered
///     have a say.
/// @param may_be_back Of those that are away: they count for what is held. Not
///     where groups are redrawn.
/// @return Those that announce the state to take over; none: `own` counts.
std::vector<progress_report>
outvoted(const std::vector<ballot>& all, const progress_report& own,
         const electorates& electors, bool redrawn,
         const electorates::condition& may_be_back);

/// Those that have made the next step of the history of `own` as they say, all
/// the same, in a group without this peer: if they are not few among those that
/// made the last step with it, nor one alone where more are there, their step
/// is as good as one of its own.
std::vector<progress_report> extended(const std::vector<ballot>& all,
                                      const progress_report& own,
                                      const electorates& electors);

/// As `outvoted`, by what most announce that are there, all alike, but for a
/// contributor's sponsor, which counts twice.
/// @param least That must announce another history.
/// @param resumed This peer has come back and made no step with others yet:
///     those ahead are followed unless they are few.
std::vector<progress_report> outnumbered(const std::vector<ballot>& all,
                                         const progress_report& own,
                                         std::size_t least,
                                         bool resumed = false);

} // namespace potluck
