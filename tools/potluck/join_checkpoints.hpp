/// The checkpoints of `potluck join`: which one it goes on from, and where it
/// writes its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/peer.hpp"
#include "runtime/manifest/invitation.hpp"
#include "tools/potluck/notice_board.hpp"
#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// checkpoint, checkpoint-every, checkpoint-keep, resume.
std::vector<cli::option_spec> checkpoint_options();

/// Goes on from what --resume names, if it is given: charter, state and history
/// are its. A checkpoint may come from anybody; one of a created run is held
/// against the invitation.
expected<bool> resume(const cli::command_line& options,
                      const std::optional<invitation>& invited,
                      peer_config& config, notice_board& notices);

/// Whoever created the run from parameters of its own begins it with them.
/// @param directory The identity's; empty: it has none.
expected<bool> take_first_state(const std::string& directory,
                                peer_config& config);

/// Says where checkpoints go. Hours of computing may be in one, so that they
/// can be written there is tried now; where none will be, that is posted. What
/// an earlier start of the peer left there, and --resume does not name, is
/// spared and posted.
/// @param file Their usual name, without its ending.
expected<bool> place_checkpoints(const cli::command_line& options,
                                 const std::string& directory,
                                 const std::string& file, peer_config& config,
                                 notice_board& notices);

} // namespace potluck::tools
