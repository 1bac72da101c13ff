/// What a letter costs whoever reads it, in units of about 50 us of a core.
#pragma once

#include "messages/message.hpp"

namespace potluck {

/// 0 for what a round, a download's places or an expert's queue bounds.
double cost_of(const message& x);

} // namespace potluck
