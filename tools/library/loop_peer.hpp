/// A peer's configuration, from what a loop has set.
#pragma once

#include <string>
#include <vector>

#include "actors/peer.hpp"
#include "tools/library/first_state.hpp"
#include "tools/library/loop_identity.hpp"
#include "tools/library/loop_options.hpp"

namespace potluck::library {

/// All of it but what the peer does in the run: role, trainer, charter. Takes
/// the identity. Throws `complaint`.
/// @param settings Of the run, as this loop would found it.
/// @param told Gets what the user is told.
peer_config loop_peer(const loop_options& options, const run_settings& settings,
                      first_state& first, loop_identity& self,
                      std::vector<std::string>& told);

} // namespace potluck::library
