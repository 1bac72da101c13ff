/// Whether two peers can work together, judged from their first messages.
#pragma once

#include <string>

#include "messages/handshake.hpp"

namespace potluck {

/// One sentence, addressed to the sender of `theirs`, that says why `ours` does
/// not let it in and what mends it; empty when it is welcome. Both sides judge
/// alike: swapping the arguments changes the words, not the verdict.
///
/// Bootstrap peers serve every run. Charters are compared only once both sides
/// have one: who has none yet is about to fetch it.
std::string objection(const hello& ours, const hello& theirs);

/// Likewise, to whom the run's organiser has banned.
std::string ban_from(const std::string& run);
/// Whether somebody's objection is that.
bool is_ban(const std::string& sentence);

/// Likewise, of whoever has proven to be one peer and says that they are
/// another; empty when that is in order. Where nothing was proven (empty), a
/// claim is all there is.
std::string false_claim(const peer_id& proven, const peer_id& claimed);

} // namespace potluck
