/// The file in which a peer keeps addresses of others, beside its identity.
#pragma once

#include <string>

#include "actors/peer.hpp"
#include "tools/potluck/notice_board.hpp"

namespace potluck::tools {

/// Has the peer keep addresses in the file `name` of its identity's directory,
/// and start with those that it finds there. A file that is damaged counts as
/// none, and its user is told. Without a directory nothing is kept.
void keep_addresses(peer_config& config, const std::string& directory,
                    const std::string& name, notice_board& notices);

} // namespace potluck::tools
