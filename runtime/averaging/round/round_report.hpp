/// What a member's round came to, as its owner is told at the end: whether it
/// counts and with which mean, whom it lacks, and who kept it waiting.
///
/// While the round runs it is told when planned means come, for the helpers
/// that are late; all else it reads when the round is decided. Pure.
#pragma once

#include <cstddef>

#include "runtime/averaging/round/helper_watch.hpp"
#include "runtime/averaging/round/member_watch.hpp"
#include "runtime/averaging/round/round_agreement.hpp"
#include "runtime/averaging/round/round_bulk.hpp"
#include "runtime/averaging/round/round_outbox.hpp"
#include "runtime/averaging/round/round_terms.hpp"

namespace potluck {

class round_report {
public:
  /// @param map Of the plan. Outlives this.
  round_report(const round_terms& what, const chunk_map& map);

  /// A mean of the plan has come from this member, or was made here, so long
  /// after the round began.
  void mean_here(std::size_t member, duration since) {
    helpers_.mean_here(member, since);
  }

  /// The round has been decided like this.
  /// @param out Has counted the bytes.
  round_outcome outcome(const round_decision& x,
                        const round_agreement& agreement,
                        const round_bulk& bulk, const member_watch& watch,
                        const bulk_watch& owed, const round_outbox& out) const;

private:
  duration patience_; ///< The contract's.
  helper_watch helpers_;
};

} // namespace potluck
