/// Where a command puts the files of the peers that it starts.
#pragma once

#include <string>

#include "messages/expected.hpp"
#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// The folder that the option names, which must be new or empty; without it a
/// new one among the system's temporary files, its name beginning with
/// `prefix`. Fails with a sentence.
expected<std::string> make_work_directory(const cli::command_line& options,
                                          const std::string& option,
                                          const std::string& prefix);

} // namespace potluck::tools
