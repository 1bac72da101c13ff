/// What `potluck sim` and `potluck chaos` have in common: which scenario, how
/// large and how long, and how to run the same again.
#pragma once

#include "tools/lab/scenario/scenario.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

/// scenario, format, peers, steps.
std::vector<cli::option_spec> scenario_options();

/// The scenario of the size that the options ask for.
/// @param command Explains scenarios, by --format.
expected<scenario> scenario_from(const cli::command_line& options,
                                 const std::string& command);

/// What repeats the run: all options that say what happens in it.
std::string replay_line(const cli::command_line& options,
                        const std::string& command, std::uint64_t seed);

} // namespace potluck::tools
