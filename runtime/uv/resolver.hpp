/// Host names to socket addresses, and back to text.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <uv.h>
#include <vector>

#include "messages/contact.hpp"

namespace potluck {

/// The socket address of a numeric host, which needs no look-up. An empty host
/// stands for every local IPv4 address.
std::optional<sockaddr_storage> read_numeric(const address& where);

/// Whether what is sent there never leaves this machine.
bool is_loopback(const sockaddr_storage& x);

/// A look-up under way. Destruction abandons it: its call-back is not called.
class resolution {
public:
  /// All addresses of a host, best first; when there are none, why.
  using answer = std::function<void(std::vector<sockaddr_storage>,
                                    const std::string& why_none)>;

  /// Calls `done` once, later, unless `error()` says that it cannot.
  /// @param family AF_INET or AF_INET6: only those.
  resolution(uv_loop_t* loop, const address& where, answer done,
             int family = AF_UNSPEC);
  ~resolution();
  resolution(const resolution&) = delete;
  resolution& operator=(const resolution&) = delete;

  /// Why the look-up could not begin; empty when it did.
  const std::string& error() const {
    return error_;
  }

private:
  struct state {
    uv_getaddrinfo_t request{};
    answer done;
    bool pending = false;
  };
  std::shared_ptr<state> state_;
  std::string error_;
};

/// The numeric form. IPv4 addresses that IPv6 maps are written as IPv4.
address to_address(const sockaddr_storage& x);

} // namespace potluck
