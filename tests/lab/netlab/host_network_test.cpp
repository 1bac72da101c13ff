/// Real kernels of real hosts: what their sockets see of each fault. Skips,
/// saying so, where the system makes no hosts.

#include "tools/lab/netlab/host_network.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "runtime/state/file_descriptor.hpp"
#include "tests/support/skip.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// Two hosts; a socket lives in the host in which it was made.
struct lab {
  std::unique_ptr<netlab::host_network> net;
  std::vector<address> hosts;
  file_descriptor listener, dialler, taker;

  bool possible() {
    auto made = netlab::make_namespaces(5);
    if (!made) {
      support::skip("this system makes no hosts: " + made.error());
      return false;
    }
    net = std::move(*made);
    for (int i = 0; i < 2; ++i)
      hosts.push_back(unwrap(net->open(unwrap(net->add({})), 0)));
    unwrap(net->within(0, [&]() -> expected<bool> {
      listener = file_descriptor{::socket(AF_INET, SOCK_STREAM, 0)};
      auto to = place();
      return ::bind(listener.get(), reinterpret_cast<sockaddr*>(&to),
                    sizeof(to))
                 == 0
             && ::listen(listener.get(), 5) == 0;
    }));
    return true;
  }

  sockaddr_in place() const {
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_port = htons(hosts[0].port);
    ::inet_pton(AF_INET, hosts[0].host.c_str(), &result.sin_addr);
    return result;
  }

  /// Host 1 dials host 0; whether that is through within `patience`.
  bool connect(std::chrono::milliseconds patience) {
    dialler = {};
    unwrap(net->within(1, [&]() -> expected<bool> {
      dialler
          = file_descriptor{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
      return true;
    }));
    auto to = place();
    ::connect(dialler.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to));
    if (!ready(listener, POLLIN, patience))
      return false;
    taker = file_descriptor{
        ::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK)};
    return static_cast<bool>(taker);
  }

  static bool ready(const file_descriptor& x, short what,
                    std::chrono::milliseconds patience) {
    pollfd one{x.get(), what, 0};
    return ::poll(&one, 1, static_cast<int>(patience.count())) == 1;
  }

  bool say(const std::string& text) {
    return ::send(dialler.get(), text.data(), text.size(), MSG_NOSIGNAL)
           == static_cast<ssize_t>(text.size());
  }

  /// What comes within `patience`; nothing is an empty text.
  std::string hear(std::chrono::milliseconds patience) {
    char buffer[100];
    if (!ready(taker, POLLIN, patience))
      return "";
    auto size = ::recv(taker.get(), buffer, sizeof(buffer), 0);
    return size > 0 ? std::string(buffer, static_cast<std::size_t>(size)) : "";
  }

  static int error_of(const file_descriptor& x) {
    if (!ready(x, POLLIN, 5s))
      return 0;
    char byte;
    return ::recv(x.get(), &byte, 1, 0) < 0 ? errno : 0;
  }
};

/// For what must come: only a failing test waits so long.
constexpr auto patience = 10000ms;
/// For what must not come: several round trips, and TCP's first attempts.
constexpr auto silence = 500ms;

} // namespace

TEST_CASE("hosts talk, as late as their lines say") {
  lab x;
  if (!x.possible())
    return;
  access_line slow;
  slow.delay = 50ms;
  x.net->set_line(1, slow);
  REQUIRE(x.connect(patience));
  auto begin = std::chrono::steady_clock::now();
  REQUIRE(x.say("hello"));
  CHECK(x.hear(patience) == "hello");
  CHECK(std::chrono::steady_clock::now() - begin >= 50ms);
  CHECK(x.net->totals().connections >= 1);
  CHECK(x.net->totals().bytes > 5 * 40);
}

TEST_CASE("a cut resets both ends, and they connect anew") {
  lab x;
  if (!x.possible())
    return;
  REQUIRE(x.connect(patience));
  REQUIRE(x.say("hello"));
  REQUIRE(x.hear(patience) == "hello");
  x.net->cut(1);
  CHECK(lab::error_of(x.dialler) == ECONNRESET);
  CHECK(lab::error_of(x.taker) == ECONNRESET);
  CHECK(x.net->totals().cut == 1);
  REQUIRE(x.connect(patience));
  REQUIRE(x.say("again"));
  CHECK(x.hear(patience) == "again");
}

TEST_CASE("what a partition holds up arrives when it heals") {
  lab x;
  if (!x.possible())
    return;
  REQUIRE(x.connect(patience));
  auto apart = x.net->part({1});
  REQUIRE(x.say("hello"));
  CHECK(x.hear(silence) == "");
  x.net->reunite(apart);
  CHECK(x.hear(patience) == "hello");
}

TEST_CASE("a changed bit gets past TCP") {
  lab x;
  if (!x.possible())
    return;
  REQUIRE(x.connect(patience));
  access_line bad;
  bad.corrupt = 1;
  x.net->set_line(0, bad);
  REQUIRE(x.say("hello"));
  auto heard = x.hear(patience);
  CHECK(heard.size() == 5);
  CHECK(heard != "hello");
  CHECK(x.net->totals().corrupted >= 1);
}
