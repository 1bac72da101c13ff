/// libuv's handles with owners. A handle must live until its close call-back,
/// which may be after its owner: so each lies on the heap, closing is the
/// owner's destructor, and the call-back frees it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <uv.h>

namespace potluck {

/// A TCP socket with the requests that it may have under way. libuv touches
/// them until the close call-back. Each is made when it is first used, by
/// `made`: most sockets of a hub have come in, and what they write leaves at
/// once.
struct tcp_handle {
  uv_tcp_t tcp{};
  std::unique_ptr<uv_connect_t> connecting;
  std::unique_ptr<uv_write_t> writing;
  std::unique_ptr<uv_shutdown_t> ending;
  /// Whoever set the call-backs for connecting, listening or reading; null
  /// while closing, and then they do nothing. The others' is their request's
  /// `data`.
  void* owner = nullptr;
  /// What the last write referred to, when it was under way at the close.
  std::shared_ptr<const void> unsent;

  uv_stream_t* stream() {
    return reinterpret_cast<uv_stream_t*>(&tcp);
  }
};

template <class Request>
Request* made(std::unique_ptr<Request>& x) {
  if (!x)
    x = std::make_unique<Request>();
  return x.get();
}

struct tcp_closer {
  void operator()(tcp_handle* x) const;
};
using tcp_socket = std::unique_ptr<tcp_handle, tcp_closer>;

/// @param family The kernel's socket is there at once if this says of which
/// address family (AF_INET, AF_INET6) it is, and there are any left; else once
/// it is bound or connects.
tcp_socket make_tcp_socket(uv_loop_t* loop, void* owner,
                           unsigned family = AF_UNSPEC);

/// The kernel's socket; -1: none.
int descriptor_of(const tcp_handle& socket);

/// Calls back once. Destruction cancels.
class timer {
public:
  timer(uv_loop_t* loop, std::chrono::milliseconds delay,
        std::function<void()> fired);
  ~timer();
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

private:
  struct handle {
    uv_timer_t timer{};
    std::function<void()> fired;
  };
  handle* handle_;
};

} // namespace potluck
