/// What `potluck bench` can measure: each takes the command's options.
#pragma once

#include <string>

#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// @returns The exit status.
int bench_averaging(cli::command_line& options, const std::string& program);
int bench_beam(cli::command_line& options);
int bench_experts(cli::command_line& options, const std::string& program);
int bench_mixture(cli::command_line& options);
int bench_optimizer(cli::command_line& options);
int bench_step(cli::command_line& options, const std::string& program);

} // namespace potluck::tools
