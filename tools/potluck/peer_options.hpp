/// The options that every role of a peer has, and how they become a
/// `peer_config`.
#pragma once

#include <filesystem>

#include "actors/peer.hpp"
#include "runtime/identity/identity.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "runtime/uv/wall_clock.hpp"
#include "tools/potluck/options.hpp"
#include "tools/potluck/peer_setup.hpp"

namespace potluck::tools {

/// listen, announce, no-port-mapping, dial-from, peer, max-upload,
/// max-download, identity-dir, insecure, log-json.
std::vector<cli::option_spec> network_options(const std::string& listen
                                              = "[::]:0");

/// For those who call experts, and who host them.
cli::option_spec relay_experts_option();

/// What `--NAME RATE` says, in bytes per second; 0 when it was not given.
expected<double> cap_from(const cli::command_line& options,
                          const std::string& name);

/// What `--NAME SIZE` says, in bytes; `otherwise` when it was not given.
expected<std::uint64_t> bytes_from(const cli::command_line& options,
                                   const std::string& name,
                                   std::uint64_t otherwise);

/// Of this machine's, in bytes.
std::uint64_t quarter_of_memory();

/// Who this peer is, and the lock on it if it is kept on disk.
struct held_identity {
  std::optional<key_pair> key; ///< Always there.
  std::string directory;       ///< Empty for a temporary identity.
  std::optional<identity> lock;
};

/// Whom --peer names.
expected<std::vector<contact>> seeds_from(const cli::command_line& options);

/// Fills in listen, announce, seeds and the random seed, and how to connect.
expected<uv_transport_options> fill_network(const cli::command_line& options,
                                            peer_config& config);

/// Makes `config` the peer that --identity-dir holds, and has it prove that;
/// without the option the one of the user's state directory, or a temporary one
/// while another process holds that, or where there is none. Tells the user
/// when it is temporary, or new. Who it is ends with the result.
expected<held_identity> take_identity(const cli::command_line& options,
                                      uv_transport_options how,
                                      peer_config& config);

/// What --identity-dir says, or else `default_identity_directory`.
std::string identity_directory(const cli::command_line& options);

/// The file that --NAME names, absolute; `usual` when it was not given.
expected<std::filesystem::path> key_file(const cli::command_line& options,
                                         const std::string& name,
                                         const std::string& usual);

/// Where runs' artifacts are kept, beside the identity, and shared by this
/// user's peers; empty without a home.
std::string artifacts_directory(const cli::command_line& options);

/// artifact, for whoever founds, creates or joins a run, and what it says.
cli::option_spec artifact_option();
expected<own_artifacts> artifacts_from(const cli::command_line& options);

} // namespace potluck::tools
