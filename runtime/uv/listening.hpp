/// The addresses on which others may connect. Lives on the loop's thread.
///
/// All interfaces of IPv6 are those of IPv4 as well, unless those were listened
/// on before. Where the kernel has no IPv6 they are those of IPv4 alone.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/uv/handles.hpp"
#include "runtime/uv/resolver.hpp"

namespace potluck {

class listening {
public:
  /// The address that was bound, or a sentence that says what to do instead.
  using answer = std::function<void(const expected<address>&)>;

  /// @param only_loopback Other addresses are refused.
  /// @param came Somebody connected; the socket has no owner yet.
  listening(uv_loop_t* loop, bool only_loopback,
            std::function<void(tcp_socket)> came);

  /// Binds and listens, perhaps after a name was looked up. Answers once.
  void listen(const address& where, answer done);

  /// What was bound first, if anything was. From any thread.
  std::optional<address> first() const;

  /// Before the loop ends: answers all that is pending.
  void stop();

  static failure stopped(const address& where);

private:
  struct pending {
    address where;
    answer done;
    std::unique_ptr<resolution> look_up;
  };

  expected<address> bind(const address& where, const sockaddr_storage& to);
  bool has_ipv4(std::uint16_t port) const;
  /// libuv's error.
  int open(const sockaddr_storage& to, unsigned flags, tcp_socket& socket);

  uv_loop_t* const loop_;
  const bool only_loopback_;
  const std::function<void(tcp_socket)> came_;
  std::vector<tcp_socket> sockets_;
  mutable std::mutex mutex_; ///< For the next.
  std::vector<address> bound_;
  std::list<pending> pending_;
};

/// The addresses of this machine that others in its house may know it by, as
/// many as a message holds, with the port of `listened`: its host if that is
/// one, else those of all interfaces. Neither loopback nor link-local ones.
std::vector<address> addresses_at_home(const address& listened);

} // namespace potluck
