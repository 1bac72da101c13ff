#include "actors/experts/answer_thread.hpp"

namespace potluck {

answer_thread::answer_thread(worker_mode mode) : mode_(mode) {
  if (mode == worker_mode::threaded)
    thread_ = std::thread{[q = queue_] { run(q); }};
}

answer_thread::~answer_thread() {
  {
    std::lock_guard<std::mutex> guard{queue_->mutex};
    queue_->stopping = true;
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

void answer_thread::post(std::function<void()> job) {
  if (mode_ == worker_mode::immediate) {
    job();
    return;
  }
  {
    std::lock_guard<std::mutex> guard{queue_->mutex};
    queue_->jobs.push_back(std::move(job));
  }
  queue_->wake.notify_one();
}

void answer_thread::run(const std::shared_ptr<queue>& q) {
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
