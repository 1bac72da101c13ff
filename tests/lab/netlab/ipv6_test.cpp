/// A home without IPv4, and what real sockets can do there. Skips, saying so,
/// where the system makes no hosts, no routers or no IPv6.

#include <arpa/inet.h>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "runtime/state/file_descriptor.hpp"
#include "tests/support/skip.hpp"
#include "tools/lab/netlab/host_network.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint16_t port = 7000;
/// What must come waits so long at most; what must not come, for `silence`.
constexpr auto patience = 10000ms;
constexpr auto silence = 500ms;

sockaddr_in6 place(const std::string& host) {
  sockaddr_in6 result{};
  result.sin6_family = AF_INET6;
  result.sin6_port = htons(port);
  ::inet_pton(AF_INET6, host.c_str(), &result.sin6_addr);
  return result;
}

bool ready(const file_descriptor& x, short what, std::chrono::milliseconds t) {
  pollfd one{x.get(), what, 0};
  return ::poll(&one, 1, static_cast<int>(t.count())) == 1;
}

/// A public host, number 0, and a home; both listen.
struct lab {
  std::unique_ptr<netlab::host_network> net;
  file_descriptor listeners[2];

  bool possible() {
    auto made = netlab::make_namespaces(5);
    if (made)
      if (auto routers = netlab::try_routers(router_kind::ipv6_only); !routers)
        made = failure{routers.error()};
    if (!made) {
      support::skip("this system makes no such home: " + made.error());
      return false;
    }
    net = std::move(*made);
    for (auto kind : {router_kind::none, router_kind::ipv6_only}) {
      const auto x = unwrap(net->add({}, kind));
      unwrap(net->open(x, port));
      listeners[x] = make(x);
      const auto at = place("::");
      REQUIRE(::bind(listeners[x].get(), reinterpret_cast<const sockaddr*>(&at),
                     sizeof(at))
              == 0);
      REQUIRE(::listen(listeners[x].get(), 5) == 0);
    }
    return true;
  }

  file_descriptor make(std::size_t x, int family = AF_INET6) const {
    file_descriptor result;
    unwrap(net->within(x, [&]() -> expected<bool> {
      result
          = file_descriptor{::socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0)};
      return true;
    }));
    return result;
  }

  /// From one of the two to the other.
  file_descriptor dial(std::size_t from) const {
    auto result = make(from);
    const auto to = place(net->ipv6_address_of(1 - from));
    ::connect(result.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to));
    return result;
  }
};

} // namespace

TEST_CASE("an ipv6-only home and a public host reach each other by IPv6") {
  lab x;
  if (!x.possible())
    return;
  auto home = x.dial(1);
  REQUIRE(ready(x.listeners[0], POLLIN, patience));
  sockaddr_in6 from{};
  socklen_t size = sizeof(from);
  file_descriptor hub{::accept(x.listeners[0].get(),
                               reinterpret_cast<sockaddr*>(&from), &size)};
  char text[INET6_ADDRSTRLEN];
  CHECK(::inet_ntop(AF_INET6, &from.sin6_addr, text, sizeof(text))
        == x.net->ipv6_address_of(1));
  REQUIRE(::send(hub.get(), "x", 1, MSG_NOSIGNAL) == 1);
  char byte = 0;
  REQUIRE(ready(home, POLLIN, patience));
  CHECK(::recv(home.get(), &byte, 1, 0) == 1);
}

TEST_CASE("what comes unasked does not reach an ipv6-only home") {
  lab x;
  if (!x.possible())
    return;
  auto hub = x.dial(0);
  CHECK_FALSE(ready(x.listeners[1], POLLIN, silence));
}

TEST_CASE("an ipv6-only home has no IPv4, and a public host has both") {
  lab x;
  if (!x.possible())
    return;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  ::inet_pton(AF_INET, x.net->address_of(0).c_str(), &to.sin_addr);
  auto home = x.make(1, AF_INET);
  CHECK(::connect(home.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to))
        == -1);
  CHECK(errno == ENETUNREACH);
  CHECK(x.net->address_of(1) == x.net->ipv6_address_of(1));
  using words = std::vector<std::string>;
  CHECK(x.net->words_of(1) == words{"--listen=[::]:7000"});
  CHECK(x.net->words_of(0)
        == words{"--listen=" + x.net->address_of(0) + ":7000",
                 "--listen=[" + x.net->ipv6_address_of(0) + "]:7000"});
}
