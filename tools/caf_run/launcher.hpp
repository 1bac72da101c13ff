/// Runs one launch from its first process to its last.

#pragma once

#include "tools/caf_run/hosts.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace potluck::caf_run {

/// What the user asked for.
struct launch_request {
  std::vector<host_line> hosts;
  std::vector<std::string> program; ///< The program and its own words.
  std::string config_dir;           ///< Where `config=FILE` lies.
  std::string log_dir; ///< For the slaves' output; empty: where ours goes.
  std::string bootstrap_host;         ///< Our address for slaves; empty: found.
  std::chrono::seconds patience{120}; ///< For the next report.
  std::chrono::seconds grace{15};     ///< Between asking to end and SIGKILL.
};

/// The words that start one process of the launch.
/// @param bootstrap `ip/port[,ip/port]` for a slave, empty for the master.
/// @param slaves `host/port`s for the master.
std::vector<std::string> words_for(const launch_request& request,
                                   const host_line& line,
                                   const std::string& bootstrap,
                                   const std::vector<std::string>& slaves);

/// Blocks SIGCHLD, SIGINT and SIGTERM. Call it before the first thread starts.
void block_signals();

/// Runs the launch to its end; nothing it started is left then. Prints what
/// goes wrong on stderr.
/// @returns the exit status: 0 if everybody who counts ended with 0, 130 after
///          Ctrl-C, else 1.
int launch(const launch_request& request);

} // namespace potluck::caf_run
