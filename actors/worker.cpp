#include "actors/worker.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace potluck {

worker::worker(worker_mode mode, int niceness) : mode_(mode) {
  if (mode == worker_mode::threaded)
    thread_ = std::thread{[this, niceness] { run(niceness); }};
}

worker::~worker() {
  {
    std::lock_guard<std::mutex> guard{mutex_};
    stopping_ = true;
    jobs_.clear();
  }
  wake_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void worker::post(std::function<void()> job) {
  if (mode_ == worker_mode::immediate) {
    job();
    return;
  }
  {
    std::lock_guard<std::mutex> guard{mutex_};
    if (stopping_)
      return;
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void worker::run(int niceness) {
  if (niceness != 0) {
    // On Linux a thread has a priority of its own.
    auto thread = static_cast<id_t>(syscall(SYS_gettid));
    setpriority(PRIO_PROCESS, thread, niceness);
  }
  std::unique_lock<std::mutex> lock{mutex_};
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_)
      return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr; // Release what it holds before waiting.
    lock.lock();
  }
}

} // namespace potluck
