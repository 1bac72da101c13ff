/// Connects to a host: looks it up, then tries its addresses one after the
/// other.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "runtime/uv/handles.hpp"
#include "runtime/uv/resolver.hpp"

namespace potluck {

class dialer {
public:
  /// The connected socket, without an owner; or null and why.
  using answer = std::function<void(tcp_socket, const std::string& failure)>;

  /// @param from A numeric host of this machine to dial from; empty: any.
  /// @param only_loopback Other addresses fail.
  dialer(uv_loop_t* loop, address where, std::chrono::milliseconds timeout,
         answer done, std::string from, bool only_loopback);

  /// Calls `done` once, perhaps before it returns, unless destroyed before. The
  /// call may destroy this object.
  void start();

private:
  void try_next();
  int bind_source();
  void connected(int status);
  void fail(const std::string& why);

  uv_loop_t* loop_;
  address where_;
  std::chrono::milliseconds timeout_;
  answer done_;
  std::string from_;
  bool only_loopback_;
  std::optional<timer> deadline_;
  std::unique_ptr<resolution> resolution_;
  std::vector<sockaddr_storage> addresses_;
  std::size_t next_ = 0;
  std::string last_error_;
  tcp_socket socket_;
};

} // namespace potluck
