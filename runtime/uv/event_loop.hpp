/// A libuv loop with a thread of its own, and the only way onto it.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <uv.h>
#include <vector>

#include "runtime/ports/transport.hpp"

namespace potluck {

class event_loop {
public:
  /// Whom the loop's thread calls.
  class handler {
  public:
    virtual ~handler() = default;
    /// A frame that was posted, in the order of all that was posted.
    virtual void on_posted_frame(connection_id id, outgoing_frame frame) = 0;
    /// All that was posted so far has been handled: time to flush.
    virtual void on_all_handled() = 0;
  };

  event_loop() = default;
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// `to` must live until `stop` has returned, which has to be called.
  /// Throws `std::runtime_error` when the system has no descriptors left.
  void start(handler& to);

  /// From any thread. False when the loop has not started or is stopping; the
  /// task is dropped then.
  bool post(std::function<void()> task);
  bool post(connection_id id, outgoing_frame frame);

  /// Runs what was posted, then `last`, which must close all handles; then ends
  /// the thread. The second call waits for the first and does nothing more.
  void stop(std::function<void()> last);

  bool inside() const {
    return std::this_thread::get_id() == thread_id_;
  }

  /// Only to be used on the loop's thread. Others may keep the pointer.
  uv_loop_t* uv() {
    return &loop_;
  }

private:
  /// A call, or a frame when there is none. Frames are by far the most, and so
  /// need no allocation of their own.
  struct task {
    std::function<void()> call;
    connection_id id = 0;
    outgoing_frame frame;
  };

  bool push(task x);
  int begin();
  void run();
  void handle_all();

  /// Made by its own thread: libuv 1.45 and later have the kernel interrupt
  /// the thread that has made a loop (io_uring), and whoever starts a peer may
  /// be waiting for sockets of its own.
  uv_loop_t loop_{};
  uv_async_t wake_{};
  handler* handler_ = nullptr;

  std::mutex mutex_; ///< For the three below.
  bool accepting_ = false;
  std::vector<task> tasks_;

  std::vector<task> handled_; ///< Of the loop's thread; keeps its capacity.
  std::mutex stop_mutex_;
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_{};
};

} // namespace potluck
