/// Connects to a peer that connects to us at the same time, which opens a hole
/// in the router before each: TCP's simultaneous open (RFC 9293, section 3.5),
/// from the port that was listened on. Whichever way the connection comes about
/// counts: the other side may as well come to that port.
#pragma once

#include <chrono>
#include <optional>

#include "runtime/uv/dialer.hpp"

namespace potluck {

/// For all tries of one punch, until there is a TCP connection.
constexpr std::chrono::seconds punch_patience{5};

class puncher {
public:
  /// @param from Where we listen; the host may stand for any interface.
  /// @param begins Whether this side begins the encryption.
  puncher(uv_loop_t* loop, const sockaddr_storage& at, const address& from,
          bool begins, dialer::answer done);

  /// Calls `done` once, perhaps before it returns, unless destroyed before. The
  /// call may destroy this object.
  void start();

  /// The other side has come to where we listen: the same as `done`.
  void met(tcp_socket socket);

private:
  void try_once();
  int begin();
  void connected(int status);
  void fail(const std::string& why);

  uv_loop_t* loop_;
  sockaddr_storage at_, from_;
  bool begins_;
  dialer::answer done_;
  std::optional<timer> deadline_, pause_;
  tcp_socket socket_;
  std::string last_error_ = "no answer";
};

} // namespace potluck
