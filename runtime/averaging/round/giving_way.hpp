/// Which of two members leaves their round where no line but through a hub is
/// left between them, which carries no bulk.
#pragma once

#include "messages/ids.hpp"
#include "runtime/averaging/round/averaging_round.hpp"

namespace potluck {

/// Whether this member does: the plan has one of the two average for the other,
/// nobody has ruled on it, and this is the later trainer.
bool gives_way(const averaging_round& round, const peer_id& other);

} // namespace potluck
