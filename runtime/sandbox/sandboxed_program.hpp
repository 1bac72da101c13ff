/// A program of ours that does for us what could be made to do harm, such as
/// parsing what a stranger wrote; confined, so that nothing but its answers
/// comes back (README.md).
///
/// What it answers is a stranger's word all the same, and to be checked. Blocks
/// while it is asked. Not for several threads at once. Linux ends the program
/// when the *thread* that started it ends.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "messages/expected.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck {

/// How a request ended. After all but the first two the program is gone.
enum class sandbox_outcome {
  answered,
  refused,       ///< By the program, which tells why.
  out_of_memory, ///< It needed more than its limit.
  too_slow,      ///< It took longer than the request may, or its limit.
  crashed,       ///< A signal ended it, or it exited.
  nonsense,      ///< It answered with what is no answer.
};

/// "crashed", "took too long", ...: follows the name of what was asked for.
const char* words_for(sandbox_outcome how);

struct sandbox_answer {
  sandbox_outcome how = sandbox_outcome::crashed;
  std::string bytes; ///< What was asked for, or why it is refused.
};

struct sandbox_terms {
  std::string path;                   ///< Of the program.
  std::vector<std::string> arguments; ///< Without the program's name.
  std::string greeting; ///< What a program of this build says first.
  std::chrono::milliseconds patience; ///< For each answer, the first included.
  std::size_t largest_answer;         ///< Bytes.
  int lent_memory = -1; ///< The descriptor of `lent_memory`; -1 for none.
};

class sandboxed_program {
public:
  /// Starts it, and waits until it has confined itself. Fails with a sentence
  /// when it cannot be started, is of another build, or says that the kernel
  /// refuses to confine it.
  static expected<sandboxed_program> start(const sandbox_terms& how);

  sandboxed_program(sandboxed_program&& other) noexcept;
  sandboxed_program& operator=(sandboxed_program&& other) noexcept;
  /// Kills it.
  ~sandboxed_program();

  /// Sends a request of a kind that the program knows and waits for its answer.
  /// One that is gone has crashed; so has one that is at work when `cancelled`
  /// becomes true, which ends it.
  sandbox_answer ask(std::uint8_t kind, std::string_view body,
                     const std::atomic<bool>* cancelled = nullptr);

  /// Whether it can be asked.
  bool is_there() const {
    return id_ > 0;
  }
  /// Its number.
  pid_t id() const {
    return id_;
  }

private:
  using time_limit = std::chrono::steady_clock::time_point;
  enum class transfer { done, late, closed };

  sandboxed_program(file_descriptor line, pid_t id, const sandbox_terms& how)
      : line_(std::move(line)), id_(id), patience_(how.patience),
        largest_answer_(how.largest_answer) {
  }
  sandbox_answer converse(std::string_view request,
                          const std::atomic<bool>* cancelled);
  transfer send(std::string_view bytes, time_limit until);
  transfer receive(std::string& bytes, std::size_t size, time_limit until,
                   const std::atomic<bool>* cancelled);
  /// Kills it, and finds out why it had ended if it had.
  sandbox_outcome end(sandbox_outcome otherwise);

  file_descriptor line_;
  pid_t id_ = -1; ///< -1 once it was waited for.
  std::chrono::milliseconds patience_;
  std::size_t largest_answer_;
};

} // namespace potluck
