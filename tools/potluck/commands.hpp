/// The subcommands of `potluck`: what each is called, and what it runs.
#pragma once

#include <string>
#include <vector>

#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// Exit statuses: what the shell sees.
enum exit_status : int {
  all_well = 0,
  failed = 1,        ///< Something broke that the user did not cause.
  users_mistake = 2, ///< A flag, a file or an address is wrong.
};

struct command {
  cli::command_spec spec;
  /// @param program The path of this executable, for starting more of it.
  int (*run)(cli::command_line& options, const std::string& program);
};

/// All of them, in the order of `potluck help`.
const std::vector<command>& commands();

command demo_command();
command bootstrap_command();
command authority_command();
command delegate_command();
command create_command();
command amend_command();
command join_command();
command doctor_command();
command dht_command();
command expert_command();
command checkpoint_command();
command import_command();
command export_command();
command eval_command();
command sim_command();
command chaos_command();
command plan_command();
command bench_command();

/// Prints one sentence for the user on standard error.
int complain(const std::string& sentence, int status = users_mistake);

} // namespace potluck::tools
