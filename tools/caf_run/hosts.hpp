/// The host file of caf-run: one process a line, the first is the master.
///
///     HOST [slots=N] [command=WORD] [config=FILE] [wait] [serve]
///
/// Knows nothing of processes.

#pragma once

#include "messages/expected.hpp"

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

namespace potluck::caf_run {

/// One line of the host file.
struct host_line {
  std::string host;
  std::size_t slots = 1;  ///< Scheduler threads of the process. Not zero.
  std::string command;    ///< First word behind the program; may be empty.
  std::string config;     ///< Passed as --config-file, if not empty.
  bool wait = false;      ///< Later lines start once this one has reported.
  bool serve = false;     ///< Works for the others: ended when they are done.
  std::size_t number = 0; ///< Of the line in the file, from 1.

  /// How messages name it: `line 2 (localhost, bootstrap)`.
  std::string label() const;

  /// Whether the process starts here, without ssh.
  bool is_local() const;
};

/// Reads a host file. Empty lines and what follows `#` do not count.
/// @returns at least one line, the first neither `wait` nor `serve`; or what
///          is wrong, with the number of the line.
expected<std::vector<host_line>> read_hosts(std::istream& in);

} // namespace potluck::caf_run
