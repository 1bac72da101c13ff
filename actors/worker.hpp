/// A thread that runs jobs one after the other: where blocking work lives.
///
/// An event-based actor stands in front of it, posts jobs and gets answers by
/// mail. (CAF's detached actors can hang the end of an actor system in 0.17.)
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace potluck {

enum class worker_mode {
  threaded,  ///< Jobs run on a thread of the worker's own.
  immediate, ///< Jobs run inside `post`: for one thread and a virtual clock.
};

class worker {
public:
  /// @param niceness Added to the thread's priority value, so that computing
  /// does not delay the actors that talk to others.
  explicit worker(worker_mode mode = worker_mode::threaded, int niceness = 0);

  /// Drops the jobs not begun, and waits for the one that runs.
  ~worker();

  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// Any thread (`immediate`: one only). A job must not throw.
  void post(std::function<void()> job);

private:
  void run(int niceness);

  const worker_mode mode_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace potluck
