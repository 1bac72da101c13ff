/// What `potluck join` needs a model for.
#pragma once

#include <memory>

#include "actors/peer.hpp"
#include "tools/potluck/notice_board.hpp"
#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// Fills in what a trainer trains, on what, and where. In `potluck` this
/// process becomes `potluck-full`, which begins anew.
/// @param settings Of the run, as the options say.
expected<bool> fill_trainer(const cli::command_line& options,
                            peer_config& config, const run_settings& settings,
                            const std::shared_ptr<notice_board>& notices);

} // namespace potluck::tools
