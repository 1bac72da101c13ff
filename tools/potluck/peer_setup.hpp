/// What a program that hosts a peer gives it, whether its user says so on a
/// command line or otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/peer.hpp"

namespace potluck::tools {

/// Where an identity is kept that nobody has named a place for:
/// $XDG_STATE_HOME/potluck, or ~/.local/state/potluck; empty without a home.
std::string default_identity_directory();

/// Fresh bytes from the system's source of randomness.
std::uint64_t random_seed();

/// Reads HOST:PORT or ID@HOST:PORT, with the id of the peer that has to answer
/// there; without it the contact has none.
expected<contact> parse_contact(const std::string& text);

/// Has the peer dial them first.
void add_seeds(peer_config& config, const std::vector<contact>& whom);

} // namespace potluck::tools
