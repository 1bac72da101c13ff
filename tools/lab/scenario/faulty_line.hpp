/// What a scenario makes of a peer's access line.
#pragma once

#include "tools/lab/network/access_line.hpp"
#include "tools/lab/scenario/fault_plan.hpp"

namespace potluck {

/// The line as its group has it. One draw, by the peer's seed, decides its
/// jitter; the network draws for each frame.
access_line usual_line(const scripted_peer& x, const peer_group& of);

/// The line with one fault more; several of a kind add up. False when the kind
/// is none of a line.
bool befall(access_line& x, fault_kind kind, double amount);

} // namespace potluck
