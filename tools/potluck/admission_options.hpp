/// What a user has to show where a run does not admit everybody.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "actors/admission_keeper.hpp"
#include "actors/peer.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// claim, delegation.
std::vector<cli::option_spec> admission_options();

/// Whom a manifest's run admits. Fails with a sentence.
expected<admission_rules> rules_of(const manifest& x);

/// First contacts of an invitation, the authority, where there is one, among
/// them.
std::vector<contact> contacts_of(const invitation& x);

/// What a run's invitation or manifest gives a peer to show, and what an
/// earlier start has kept.
/// @param as Tells the peers of one directory apart.
admission_papers papers_for(const named_run& run, const std::string& directory,
                            const std::string& as);

/// Gives the peer what the invitation and the options say.
expected<bool> fill_papers(const cli::command_line& options,
                           const invitation& to, const std::string& directory,
                           peer_config& config);

/// What a hub for this run goes by; open where nobody says more.
passed_run passed(const named_run& x);

/// Reads "30min", "12h", "7d". Fails with a sentence.
expected<std::chrono::milliseconds> read_life(const std::string& text);

} // namespace potluck::tools
