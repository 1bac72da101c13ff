/// Creates a run from a loop, as its organiser: signs what it is, keeps that
/// and its first state, and invites.
#pragma once

#include <string>

#include "tools/library/first_state.hpp"
#include "tools/library/loop_options.hpp"

namespace potluck::library {

/// Again for a run that was created here, if nothing of it has changed. Throws
/// `complaint`.
/// @return The invitation.
std::string create_run(const loop_options& options, first_state& first);

} // namespace potluck::library
