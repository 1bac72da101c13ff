/// Runs one peer as a process: events to the log and the terminal, signals to
/// the peer, its end to an exit status.
#pragma once

#include <memory>
#include <optional>

#include "actors/peer.hpp"
#include "actors/run_tenants.hpp"
#include "tools/potluck/notice_board.hpp"
#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// Returns when the peer is over. Ctrl-C and SIGTERM let it say goodbye, and
/// end the process within two seconds whatever happens. What is posted on
/// `notices` is told like the peer's own events.
/// @param tenants Those of a bootstrap peer, if it keeps any.
int run_peer(cli::command_line& options, peer_config config,
             std::shared_ptr<notice_board> notices = nullptr,
             std::optional<run_tenants_config> tenants = std::nullopt);

} // namespace potluck::tools
