/// The addresses on which others may connect. Lives on the loop's thread.
#pragma once

#include <functional>
#include <list>
#include <memory>
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

  uv_loop_t* const loop_;
  const bool only_loopback_;
  const std::function<void(tcp_socket)> came_;
  std::vector<tcp_socket> sockets_;
  std::list<pending> pending_;
};

} // namespace potluck
