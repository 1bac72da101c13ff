/// Starting and ending the processes of a launch, here or over ssh.

#pragma once

#include "messages/expected.hpp"
#include "tools/caf_run/hosts.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace potluck::caf_run {

/// The words that start `words` on the line's host: themselves, or an ssh that
/// changes to `directory` there and runs them.
std::vector<std::string> command_for(const host_line& line,
                                     const std::vector<std::string>& words,
                                     const std::string& directory);

/// One word of a POSIX shell that means exactly `text`.
std::string shell_quoted(const std::string& text);

/// Starts a process group of its own, with the default signals and no input.
/// @param log Where its output goes; empty: where ours goes.
expected<pid_t> start(const std::vector<std::string>& words,
                      const std::string& log);

/// Sends a signal to the whole process group.
void signal_group(pid_t leader, int signal);

/// "" for a status (of waitpid) of 0, else a phrase: "exited with status 3",
/// "was ended by signal 9 (Killed)".
std::string how_it_ended(int status);

} // namespace potluck::caf_run
