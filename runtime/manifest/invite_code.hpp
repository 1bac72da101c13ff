/// What an invitation holds beside the run, where that does not admit
/// everybody: whoever shows it is let in.
#pragma once

#include "messages/ids.hpp"

namespace potluck {

/// Drawn at random; empty: none.
using invite_code = identifier<struct invite_code_tag, 16>;

} // namespace potluck
