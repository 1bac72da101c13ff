/// What the one device of a host computes next, over all its experts.
///
/// Pure. The pool whose oldest call has waited longest is next, of those that
/// have a batch ready: no expert starves, however popular another one is.
/// Besides the pools' own limits, what waits is bounded in bytes for the whole
/// host, and in calls and bytes for each caller, so that one who floods the
/// host is refused while others are served.
#pragma once

#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "runtime/experts/task_pool.hpp"

namespace potluck::limits {

/// Waiting on a host in all, and of one caller.
constexpr std::size_t expert_waiting_bytes = std::size_t{512} << 20;
constexpr std::size_t expert_waiting_bytes_of_a_caller
    = expert_waiting_bytes / 4;
constexpr std::size_t expert_calls_of_a_caller = 512;

} // namespace potluck::limits

namespace potluck {

class batch_queue {
public:
  struct bounds {
    task_pool::bounds pool;
    std::size_t bytes = limits::expert_waiting_bytes;
    std::size_t bytes_of_a_caller = limits::expert_waiting_bytes_of_a_caller;
    std::size_t calls_of_a_caller = limits::expert_calls_of_a_caller;
  };
  struct batch {
    std::string uid;
    expert_pass pass = expert_pass::forward;
    std::vector<expert_task> tasks; ///< In the order of their arrival.

    std::uint32_t samples() const {
      return std::accumulate(
          tasks.begin(), tasks.end(), std::uint32_t{0},
          [](auto sum, auto& task) { return sum + task.samples; });
    }
  };

  explicit batch_queue(bounds b) : bounds_(b) {
  }

  /// `task.arrived` must not run backwards.
  task_pool::verdict offer(const std::string& uid, expert_pass pass,
                           expert_task task);

  /// The next batch; nothing while none is ready. Calls that nobody waits for
  /// are dropped first and counted in `dropped()`.
  std::optional<batch> next(time_point now);

  /// When to look again, while somebody waits and no batch is ready.
  std::optional<time_point> wake() const;

  /// A caller is gone.
  void forget(const peer_id& caller);

  /// An expert is gone: what waited for it.
  std::vector<expert_task> withdraw(const std::string& uid);

  std::size_t calls() const {
    return calls_;
  }
  std::size_t bytes() const {
    return bytes_;
  }
  /// Calls so far that waited until they were of no use.
  std::uint64_t dropped() const {
    return dropped_;
  }

private:
  using key = std::pair<std::string, expert_pass>;
  struct account {
    std::size_t calls = 0;
    std::size_t bytes = 0;
  };

  void settle(const std::vector<expert_task>& gone);

  bounds bounds_;
  std::map<key, task_pool> pools_; ///< Those in which somebody waits.
  std::map<peer_id, account> callers_;
  std::size_t calls_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

} // namespace potluck
