/// Children of this program, none of which outlives it.
///
/// Knows nothing of what the children do.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck::tools {

/// How a process ended.
struct child_end {
  int status = 0; ///< What it exited with; only if `signal` is 0.
  int signal = 0; ///< What ended it.

  bool well() const {
    return status == 0 && signal == 0;
  }
};

/// "exited with status 3", "was ended by signal 9 (Killed)".
std::string to_string(const child_end& x);

/// One child. Its owner's end is its end: the destructor kills it.
class child_process {
public:
  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&& other) noexcept;
  ~child_process();

  /// How it ended; nothing while it runs. Does not block.
  std::optional<child_end> end();

  /// Sends a signal, unless it has ended.
  void signal(int number);

  /// Its number; -1 once it has ended and `end` has said so.
  pid_t id() const {
    return id_;
  }

private:
  friend class child_group;
  explicit child_process(pid_t id) : id_(id) {
  }

  pid_t id_ = -1; ///< -1 once it was waited for.
  std::optional<child_end> end_;
};

/// A process group of children, which the kernel ends together with this
/// process however that ends, SIGKILL included.
///
/// The first of the group is a shell that waits for the end of a pipe which
/// only we hold open, and then kills its group. (Linux can tie a child to its
/// parent by PR_SET_PDEATHSIG, but posix_spawn cannot ask for that.) The
/// terminal's Ctrl-C does not reach the group: what it means is ours to say.
class child_group {
public:
  static expected<child_group> make();

  child_group(child_group&& other) noexcept;
  child_group& operator=(child_group&&) = delete;
  ~child_group();

  /// Starts `words` (a path, then arguments) with the default signals, none of
  /// them blocked, and no input.
  /// @param output The file that gets what it prints.
  expected<child_process> start(const std::vector<std::string>& words,
                                const std::string& output) const;

private:
  child_group(pid_t guard, file_descriptor line)
      : guard_(guard), line_(std::move(line)) {
  }

  pid_t guard_;          ///< The shell; also the group's number.
  file_descriptor line_; ///< Our end of the pipe.
};

} // namespace potluck::tools
