/// A thread that runs jobs one after the other: where blocking work lives.
///
/// An event-based actor stands in front of it, posts jobs and gets answers by
/// mail. (CAF's detached actors can hang the end of an actor system in 0.17.)
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace potluck {

enum class worker_mode {
  threaded,  ///< Jobs run on a thread of the worker's own.
  immediate, ///< Jobs run inside `post`: for one thread and a virtual clock.
};

/// What becomes of jobs that are not begun when the worker ends.
enum class worker_end { drops_them, runs_them };

class worker {
public:
  /// @param niceness Added to the thread's priority value, so that computing
  /// does not delay the actors that talk to others.
  explicit worker(worker_mode mode = worker_mode::threaded, int niceness = 0,
                  worker_end end = worker_end::drops_them);

  /// Waits for the job that runs; where one of its jobs was its last owner, the
  /// thread ends by itself.
  ~worker();

  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// Any thread (`immediate`: one only). A job must not throw.
  void post(std::function<void()> job);

private:
  /// Shared with the thread, which may outlive this object.
  struct queue {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::function<void()>> jobs;
    bool stopping = false;
  };

  static void run(const std::shared_ptr<queue>& q, int niceness);

  const worker_mode mode_;
  const worker_end end_;
  std::shared_ptr<queue> queue_ = std::make_shared<queue>();
  std::thread thread_;
};

} // namespace potluck
