#include "runtime/uv/event_loop.hpp"

#include <csignal>
#include <future>
#include <stdexcept>

namespace potluck {

void event_loop::start(handler& to) {
  if (handler_ != nullptr)
    throw std::logic_error("an event loop starts only once");
  handler_ = &to;
  std::promise<int> begun;
  thread_ = std::thread{[this, &begun] {
    const auto error = begin();
    begun.set_value(error);
    if (error == 0)
      run();
  }};
  if (const auto error = begun.get_future().get(); error != 0) {
    thread_.join();
    throw std::runtime_error(std::string{"cannot start an event loop: "}
                             + uv_strerror(error));
  }
  std::lock_guard<std::mutex> lock{mutex_};
  thread_id_ = thread_.get_id();
  accepting_ = true; // From here on tasks see the thread's id.
}

int event_loop::begin() {
  if (const auto error = uv_loop_init(&loop_); error != 0)
    return error;
  wake_.data = this;
  const auto error = uv_async_init(&loop_, &wake_, [](uv_async_t* wake) {
    static_cast<event_loop*>(wake->data)->handle_all();
  });
  if (error != 0)
    uv_loop_close(&loop_);
  return error;
}

bool event_loop::post(std::function<void()> call) {
  return push({std::move(call), 0, {}});
}

bool event_loop::post(connection_id id, outgoing_frame frame) {
  return push({nullptr, id, std::move(frame)});
}

bool event_loop::push(task x) {
  std::lock_guard<std::mutex> lock{mutex_};
  if (!accepting_)
    return false;
  tasks_.push_back(std::move(x));
  // Under the lock: once `accepting_` is false, the handle may be gone.
  if (tasks_.size() == 1)
    uv_async_send(&wake_);
  return true;
}

void event_loop::stop(std::function<void()> last) {
  if (handler_ == nullptr)
    return;
  if (inside())
    throw std::logic_error("a transport cannot be stopped by its own thread");
  std::lock_guard<std::mutex> once{stop_mutex_};
  if (!thread_.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock{mutex_};
    accepting_ = false;
    tasks_.push_back({[this, last = std::move(last)] {
                        last();
                        uv_close(reinterpret_cast<uv_handle_t*>(&wake_),
                                 nullptr);
                      },
                      0,
                      {}});
    uv_async_send(&wake_);
  }
  thread_.join();
  thread_id_ = std::thread::id{}; // The system uses ids again.
}

void event_loop::run() {
  // libuv writes without MSG_NOSIGNAL: a peer that is gone must be an error of
  // the connection, not the end of the process.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  uv_run(&loop_, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop_) != 0)
    throw std::logic_error("a handle outlived its event loop");
}

void event_loop::handle_all() {
  {
    std::lock_guard<std::mutex> lock{mutex_};
    handled_.swap(tasks_);
  }
  for (auto& x : handled_) {
    if (x.call)
      x.call();
    else
      handler_->on_posted_frame(x.id, std::move(x.frame));
  }
  handled_.clear();
  handler_->on_all_handled();
}

} // namespace potluck
