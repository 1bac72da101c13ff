/// What `potluck bench` can measure: each takes the command's options.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// @returns The exit status.
int bench_averaging(cli::command_line& options, const std::string& program);
int bench_beam(cli::command_line& options);
int bench_checkpoint(cli::command_line& options);
int bench_experts(cli::command_line& options, const std::string& program);
int bench_optimizer(cli::command_line& options);
int bench_step(cli::command_line& options, const std::string& program);
int bench_trainer(cli::command_line& options);

/// Prints figures as JSON, or, unless that is asked for, as tables: the names
/// of the figures below each other, and beside each what was measured in each
/// row of an array.
/// @param met Whether all goals are.
/// @returns The exit status.
int report(const cli::command_line& options, const nlohmann::ordered_json& x,
           bool met = true);

/// What starts the members of a measurement: each is this command, with the
/// options that it was given itself, and `--member=NUMBER`.
std::vector<std::vector<std::string>>
member_commands(const cli::command_line& options, const std::string& program,
                std::size_t members);

} // namespace potluck::tools
