#include "actors/worker.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace potluck {

worker::worker(worker_mode mode, int niceness, worker_end end)
    : mode_(mode), end_(end) {
  if (mode == worker_mode::threaded)
    thread_ = std::thread{[q = queue_, niceness] { run(q, niceness); }};
}

worker::~worker() {
  std::deque<std::function<void()>> dropped; // Ends without the lock.
  {
    std::lock_guard<std::mutex> guard{queue_->mutex};
    queue_->stopping = true;
    if (end_ == worker_end::drops_them)
      dropped.swap(queue_->jobs);
  }
  queue_->wake.notify_all();
  if (!thread_.joinable())
    return;
  // It cannot wait for itself, and needs nothing of this object.
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

void worker::post(std::function<void()> job) {
  if (mode_ == worker_mode::immediate) {
    job();
    return;
  }
  {
    std::lock_guard<std::mutex> guard{queue_->mutex};
    if (queue_->stopping && end_ == worker_end::drops_them)
      return;
    queue_->jobs.push_back(std::move(job));
  }
  queue_->wake.notify_one();
}

void worker::run(const std::shared_ptr<queue>& q, int niceness) {
  if (niceness != 0) {
    // On Linux a thread has a priority of its own.
    auto thread = static_cast<id_t>(syscall(SYS_gettid));
    setpriority(PRIO_PROCESS, thread, niceness);
  }
  std::unique_lock<std::mutex> lock{q->mutex};
  for (;;) {
    q->wake.wait(lock, [&] { return q->stopping || !q->jobs.empty(); });
    if (q->jobs.empty())
      return;
    auto job = std::move(q->jobs.front());
    q->jobs.pop_front();
    lock.unlock();
    job();
    job = nullptr; // Release what it holds before waiting.
    lock.lock();
  }
}

} // namespace potluck
