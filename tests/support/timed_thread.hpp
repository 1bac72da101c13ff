/// A thread that runs tasks when they are due: what emulated lines are made of.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>

namespace potluck::support {

/// Of tasks that are due at one time, the first that came is the first to run.
class timed_thread {
public:
  using clock = std::chrono::steady_clock;
  /// Told whether the thread ends, which makes every task due.
  using task = std::function<void(bool ends)>;

  timed_thread() : thread_([this] { work(); }) {
  }
  ~timed_thread() {
    stop();
  }
  timed_thread(const timed_thread&) = delete;
  timed_thread& operator=(const timed_thread&) = delete;

  /// Runs what is left. What comes afterwards runs at once, inside `at`.
  void stop() {
    {
      std::lock_guard<std::mutex> guard{mutex_};
      ends_ = true;
    }
    news_.notify_all();
    if (thread_.joinable())
      thread_.join();
  }

  /// From any thread.
  void at(clock::time_point due, task run) {
    {
      std::lock_guard<std::mutex> guard{mutex_};
      if (!ends_) {
        tasks_.push({due, number_++, std::move(run)});
        run = nullptr;
      }
    }
    if (run)
      run(true);
    else
      news_.notify_all();
  }

private:
  struct entry {
    clock::time_point due;
    std::uint64_t number;
    task run;
    bool operator<(const entry& x) const { // The earliest is the greatest.
      return due != x.due ? due > x.due : number > x.number;
    }
  };

  void work() {
    std::unique_lock<std::mutex> lock{mutex_};
    for (;;) {
      if (ends_ && tasks_.empty())
        return;
      if (tasks_.empty()) {
        news_.wait(lock);
        continue;
      }
      const auto due = tasks_.top().due;
      if (!ends_ && clock::now() < due) {
        news_.wait_until(lock, due);
        continue;
      }
      auto run = tasks_.top().run;
      tasks_.pop();
      const auto ends = ends_;
      lock.unlock();
      run(ends);
      run = nullptr; // What it holds may end here, without the lock.
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable news_;
  std::priority_queue<entry> tasks_;
  std::uint64_t number_ = 0;
  bool ends_ = false;
  std::thread thread_;
};

} // namespace potluck::support
