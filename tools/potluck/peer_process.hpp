/// Runs one peer as a process: events to the log and the terminal, signals to
/// the peer, its end to an exit status.
#pragma once

#include <string>

#include "actors/peer.hpp"
#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// Returns when the peer is over. Ctrl-C and SIGTERM let it say goodbye, and
/// end the process within two seconds whatever happens.
int run_peer(cli::command_line& options, peer_config config);

} // namespace potluck::tools
