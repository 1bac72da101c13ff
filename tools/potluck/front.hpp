/// What both executables do before and around a subcommand.
///
/// `potluck` has what needs no model: a first contact or an auxiliary peer on a
/// small machine holds 20 MB then instead of 170, and starts at once. For all
/// else it becomes `potluck-full`, beside it, which has everything and
/// LibTorch.
#pragma once

#include "messages/expected.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

/// What a process of ours wants of its system, whatever it does.
void prepare_process();

/// The names of all subcommands, in the order of `potluck help`.
const std::vector<std::string>& command_names();

/// With the names of the others, which its configuration file may hold.
command one_of_all(command c);

/// Reads `words`, those behind the subcommand's name, and runs it. What it
/// throws is said, and is a failure.
/// @returns The exit status.
int run_command(const command& chosen, const std::vector<std::string>& words,
                const std::string& program);

/// The path of an executable of ours in this one's folder: "potluck" for more
/// peers.
expected<std::string> path_beside(const std::string& name);

/// Runs `potluck-full` in place of this process, with the same words. Returns,
/// with an exit status, only where it cannot.
int become_full();

/// The words of this process, `main`'s, for `become_full`.
void remember_words(char** argv);

} // namespace potluck::tools
