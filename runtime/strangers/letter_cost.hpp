/// What a letter costs whoever reads it, in units of about 50 us of a core.
#pragma once

#include "messages/message.hpp"

namespace potluck {

/// @param trusted By one that works with this peer: 0 for what a round, a
///     download's places or an expert's queue bounds.
double cost_of(const message& x, bool trusted = false);

} // namespace potluck
