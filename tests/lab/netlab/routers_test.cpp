/// Homes behind real routers: what real sockets can do there. Skips, saying so,
/// where the system makes no hosts or no routers.

#include <arpa/inet.h>
#include <deque>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "runtime/state/file_descriptor.hpp"
#include "tests/support/skip.hpp"
#include "tools/lab/netlab/host_network.hpp"
#include "tools/lab/netlab/namespace_host.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint16_t port = 7000;
constexpr std::uint16_t hub_port = 443;
/// A hole is tried for so long. What must come waits for `patience` at most;
/// what must not come, for `silence`.
constexpr auto trying = 2s;
constexpr auto patience = 10000ms;
constexpr auto silence = 500ms;

sockaddr_in place(const address& x) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(x.port);
  ::inet_pton(AF_INET, x.host.c_str(), &result.sin_addr);
  return result;
}

bool ready(const file_descriptor& x, short what, std::chrono::milliseconds t) {
  pollfd one{x.get(), what, 0};
  return ::poll(&one, 1, static_cast<int>(t.count())) == 1;
}

/// Whether the dial of a socket has succeeded.
bool connected(const file_descriptor& x, std::chrono::milliseconds t) {
  sockaddr_in ignored{};
  socklen_t size = sizeof(ignored);
  return ready(x, POLLOUT, t)
         && ::getpeername(x.get(), reinterpret_cast<sockaddr*>(&ignored), &size)
                == 0;
}

/// A machine in a home of its own, which listens.
struct machine {
  std::size_t host = 0;
  file_descriptor listener;
  file_descriptor to_hub;
};

/// A hub that all can dial, and homes.
struct town {
  std::unique_ptr<netlab::host_network> net;
  std::deque<machine> machines;

  bool possible() {
    auto made = netlab::make_namespaces(5);
    if (made)
      if (auto routers = netlab::try_routers(); !routers)
        made = failure{routers.error()};
    if (!made) {
      support::skip("this system makes no routers: " + made.error());
      return false;
    }
    net = std::move(*made);
    add(router_kind::none, hub_port);
    return true;
  }

  machine& add(router_kind kind, std::uint16_t at = port) {
    access_line line;
    line.delay = 5ms;
    auto& x = machines.emplace_back();
    x.host = unwrap(net->add(line, kind));
    x.listener = make(x, at);
    REQUIRE(::listen(x.listener.get(), 50) == 0);
    return x;
  }

  /// A socket on the machine, on that port; 0: any.
  file_descriptor make(const machine& x, std::uint16_t at) {
    file_descriptor result;
    unwrap(net->within(x.host, [&]() -> expected<bool> {
      result
          = file_descriptor{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
      return true;
    }));
    const int yes = 1;
    ::setsockopt(result.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    ::setsockopt(result.get(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes));
    auto where = place({"0.0.0.0", at});
    REQUIRE(
        ::bind(result.get(), reinterpret_cast<sockaddr*>(&where), sizeof(where))
        == 0);
    return result;
  }
  file_descriptor dial(const machine& x, const address& to,
                       std::uint16_t from = 0) {
    auto result = make(x, from);
    auto where = place(to);
    ::connect(result.get(), reinterpret_cast<sockaddr*>(&where), sizeof(where));
    return result;
  }

  address of_hub() const {
    return {net->address_of(0), hub_port};
  }

  /// Where the hub sees the machine's port on which it listens, or another.
  address seen(machine& x, std::uint16_t from_port = port) {
    x.to_hub = dial(x, of_hub(), from_port);
    REQUIRE(connected(x.to_hub, patience));
    REQUIRE(ready(machines[0].listener, POLLIN, patience));
    sockaddr_in from{};
    socklen_t size = sizeof(from);
    machines[0].to_hub = file_descriptor{
        ::accept4(machines[0].listener.get(),
                  reinterpret_cast<sockaddr*>(&from), &size, SOCK_NONBLOCK)};
    char text[INET_ADDRSTRLEN];
    return {::inet_ntop(AF_INET, &from.sin_addr, text, sizeof(text)),
            ntohs(from.sin_port)};
  }

  bool dials(const machine& x, const address& to) {
    return connected(dial(x, to), silence);
  }

  /// Both try from the port that they listen on, again and again.
  bool punch(machine& a, const address& at_a, machine& b, const address& at_b) {
    const auto end = std::chrono::steady_clock::now() + trying;
    file_descriptor to_a, to_b;
    while (std::chrono::steady_clock::now() < end) {
      to_a = {};
      to_b = {};
      to_b = dial(a, at_b, port);
      to_a = dial(b, at_a, port);
      if (connected(to_b, 150ms) || connected(to_a, 0ms))
        return true;
    }
    return false;
  }
};

/// 'd': one of them can dial the other; 'p': a hole connects them.
char best_way(town& x, router_kind first, router_kind second) {
  auto& a = x.add(first);
  auto& b = x.add(second);
  auto at_a = x.seen(a), at_b = x.seen(b);
  CHECK((at_a.port == port) == (first != router_kind::symmetric));
  return x.dials(a, at_b) || x.dials(b, at_a) ? 'd'
         : x.punch(a, at_a, b, at_b)          ? 'p'
                                              : '-';
}

} // namespace

TEST_CASE("pairs of homes connect as their routers allow") {
  town x;
  if (!x.possible())
    return;
  using k = router_kind;
  // As in the simulation.
  CHECK(best_way(x, k::none, k::symmetric) == 'd');
  CHECK(best_way(x, k::symmetric, k::open_cone) == 'd');
  // Where miniupnpd runs, it opens a port only to those that ask for it.
  CHECK(best_way(x, k::port_restricted, k::upnp)
        == (netlab::has_port_mapper() ? 'p' : 'd'));
  CHECK(best_way(x, k::port_restricted, k::port_restricted) == 'p');
  CHECK(best_way(x, k::double_nat, k::port_restricted) == 'p');
  CHECK(best_way(x, k::symmetric, k::address_restricted) == 'p');
  CHECK(best_way(x, k::symmetric, k::port_restricted) == '-');
  CHECK(best_way(x, k::symmetric, k::symmetric) == '-');
}

TEST_CASE("behind the strictest firewall only port 443 can be reached") {
  town x;
  if (!x.possible())
    return;
  auto& open = x.add(router_kind::none);
  auto& shut = x.add(router_kind::only_443);
  CHECK(x.dials(shut, x.of_hub()));
  CHECK_FALSE(x.dials(shut, {x.net->address_of(open.host), port}));
  CHECK_FALSE(x.dials(open, {x.net->address_of(shut.host), port}));
}

TEST_CASE("a router that reboots drops what was open, and lets dials pass") {
  town x;
  if (!x.possible())
    return;
  auto& home = x.add(router_kind::port_restricted);
  auto before = x.seen(home);
  auto& hub = x.machines[0].to_hub;
  REQUIRE(::send(hub.get(), "x", 1, MSG_NOSIGNAL) == 1);
  char byte = 0;
  REQUIRE(ready(home.to_hub, POLLIN, patience));
  CHECK(::recv(home.to_hub.get(), &byte, 1, 0) == 1);
  x.net->reboot_router(home.host);
  ::send(home.to_hub.get(), "y", 1, MSG_NOSIGNAL);
  ::send(hub.get(), "y", 1, MSG_NOSIGNAL);
  CHECK_FALSE(ready(hub, POLLIN, silence));
  CHECK_FALSE(ready(home.to_hub, POLLIN, silence));
  home.to_hub = {};
  CHECK(x.dials(home, x.of_hub()));
  CHECK(x.net->address_of(home.host) == before.host);
}

TEST_CASE("a home that moves is seen by another address") {
  town x;
  if (!x.possible())
    return;
  auto& home = x.add(router_kind::symmetric);
  auto before = x.seen(home);
  x.net->move_home(home.host);
  ::send(home.to_hub.get(), "y", 1, MSG_NOSIGNAL);
  CHECK_FALSE(ready(x.machines[0].to_hub, POLLIN, silence));
  home.to_hub = {};
  auto after = x.seen(home, port + 1);
  CHECK(after.host != before.host);
  CHECK(after.host == x.net->address_of(home.host));
}
