/// A child process of a test: started, watched and, whatever happens, ended.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace potluck::support {

/// How a process ended: an exit status, or the signal that killed it.
struct process_end {
  int status = 0; ///< Of `exit`; meaningless when `signal` is not 0.
  int signal = 0;
};

/// What to run, and where its output goes.
struct command {
  std::vector<std::string> words; ///< The program's path and its arguments.
  /// On top of the test's own environment; an empty value unsets the name.
  std::map<std::string, std::string> environment;
  std::string directory; ///< To run in; empty for the test's own.
};

/// One line for a shell that runs the command again.
std::string replay_line(const command& x);

/// Owns one child. Its destruction kills the child and waits for it; the kernel
/// does so should the test itself be killed. Not for several threads.
class process {
public:
  /// Starts at once, with standard output and standard error in the file
  /// `output`. Throws std::system_error when that is impossible.
  process(command what, std::string output);
  ~process();

  process(const process&) = delete;
  process& operator=(const process&) = delete;

  bool running();

  /// Waits for the end; nothing when it did not come within `patience`.
  std::optional<process_end> wait(std::chrono::milliseconds patience);

  /// Nothing happens when the process has ended.
  void signal(int number);

  /// What it printed up to now.
  std::string output() const;

  pid_t pid() const {
    return pid_;
  }
  const command& what() const {
    return what_;
  }
  const std::string& output_path() const {
    return output_;
  }

private:
  bool reap(int options);

  command what_;
  std::string output_;
  pid_t pid_ = -1;
  std::optional<process_end> end_;
};

} // namespace potluck::support
