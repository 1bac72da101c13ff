/// Connects to a host, whichever of its addresses answers first (RFC 8305,
/// Happy Eyeballs): a family that is broken costs a quarter of a second.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "runtime/uv/address_order.hpp"
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

  /// Likewise, where the look-up has found these.
  using addresses = std::vector<sockaddr_storage>;
  void start(const addresses& found);

private:
  /// From here on the time-out runs.
  void hurry();
  void look_up(const address& where, int family,
               std::function<void(const addresses&)> found);
  void found(const addresses& x);
  /// Begins the next attempt, while others may be under way.
  void try_next();
  /// libuv's error.
  int begin(const sockaddr_storage& to);
  int bind_source(tcp_handle& socket);
  void connected(tcp_handle& which, int status);
  /// Whether IPv6 may lead to an IPv4 host that nothing else leads to.
  bool translates();
  void fail(const std::string& why);

  uv_loop_t* loop_;
  address where_;
  std::chrono::milliseconds timeout_;
  answer done_;
  std::string from_;
  bool only_loopback_;
  std::optional<timer> deadline_;
  std::vector<std::unique_ptr<resolution>> look_ups_;
  std::size_t pending_ = 0; ///< Of these.
  address_order order_;
  std::vector<tcp_socket> attempts_;         ///< Under way.
  std::optional<timer> pause_;               ///< Before the next one.
  std::optional<sockaddr_storage> unrouted_; ///< IPv4, to be translated.
  std::string last_error_;
};

} // namespace potluck
