#include "runtime/uv/handles.hpp"

namespace potluck {

tcp_socket make_tcp_socket(uv_loop_t* loop, void* owner, unsigned family) {
  // Owned only from here: a handle that was never initialized is not closed.
  auto* handle = new tcp_handle;
  if (family == AF_UNSPEC || uv_tcp_init_ex(loop, &handle->tcp, family) != 0)
    uv_tcp_init(loop, &handle->tcp); // No system call, no failure.
  handle->tcp.data = handle;
  handle->owner = owner;
  return tcp_socket{handle};
}

int descriptor_of(const tcp_handle& socket) {
  uv_os_fd_t fd = -1;
  if (uv_fileno(reinterpret_cast<const uv_handle_t*>(&socket.tcp), &fd) != 0)
    return -1;
  return fd;
}

void tcp_closer::operator()(tcp_handle* x) const {
  x->owner = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&x->tcp), [](uv_handle_t* handle) {
    delete static_cast<tcp_handle*>(handle->data);
  });
}

timer::timer(uv_loop_t* loop, std::chrono::milliseconds delay,
             std::function<void()> fired)
    : handle_(new handle) {
  uv_timer_init(loop, &handle_->timer);
  handle_->timer.data = handle_;
  handle_->fired = std::move(fired);
  // The loop's clock stands still while its thread works: what just became due
  // would else fire early.
  uv_update_time(loop);
  uv_timer_start(
      &handle_->timer,
      [](uv_timer_t* x) {
        // Moved out, for the call may destroy this timer.
        auto call = std::move(static_cast<handle*>(x->data)->fired);
        if (call)
          call();
      },
      static_cast<std::uint64_t>(delay.count()), 0);
}

timer::~timer() {
  handle_->fired = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&handle_->timer),
           [](uv_handle_t* x) { delete static_cast<handle*>(x->data); });
}

} // namespace potluck
