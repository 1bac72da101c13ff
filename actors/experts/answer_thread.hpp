/// Where call-backs of other people's code run, so that no actor waits for it;
/// and the promise that each is called exactly once.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "actors/worker.hpp"
#include "messages/expected.hpp"

namespace potluck {

/// Runs jobs in their order on one thread. Unlike a `worker`, it runs all that
/// was posted before it ends, and its last owner may be one of its own jobs.
class answer_thread {
public:
  explicit answer_thread(worker_mode mode);
  ~answer_thread();
  answer_thread(const answer_thread&) = delete;
  answer_thread& operator=(const answer_thread&) = delete;

  /// Any thread. A job must not throw.
  void post(std::function<void()> job);

private:
  /// Shared with the thread, which may outlive this object.
  struct queue {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::function<void()>> jobs;
    bool stopping = false;
  };

  static void run(const std::shared_ptr<queue>& q);

  const worker_mode mode_;
  std::shared_ptr<queue> queue_ = std::make_shared<queue>();
  std::thread thread_;
};

/// A call-back that is called exactly once: with what it is given, or with a
/// failure when this object ends before that.
template <class T>
class promised {
public:
  promised(std::function<void(expected<T>)> done,
           std::shared_ptr<answer_thread> voice)
      : done_(std::move(done)), voice_(std::move(voice)) {
  }
  promised(promised&& other) noexcept
      : done_(std::exchange(other.done_, nullptr)),
        voice_(std::move(other.voice_)) {
  }
  promised& operator=(promised&&) = delete;
  ~promised() {
    keep(failure{"This peer does not run, or its expert caller was restarted; "
                 "try again."});
  }

  void keep(expected<T> x) {
    if (!done_)
      return;
    auto shared = std::make_shared<expected<T>>(std::move(x));
    voice_->post([done = std::exchange(done_, nullptr), shared] {
      done(std::move(*shared));
    });
  }

private:
  std::function<void(expected<T>)> done_;
  std::shared_ptr<answer_thread> voice_;
};

} // namespace potluck
