#include "runtime/uv/kernel_view.hpp"

#include <doctest/doctest.h>

#ifdef __linux__
#include <array>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/skip.hpp"

using namespace potluck;

namespace {

struct bare_socket {
  int number = ::socket(AF_INET, SOCK_STREAM, 0);
  ~bare_socket() {
    ::close(number);
  }

  bool choose(const std::string& how) const {
    return ::setsockopt(number, IPPROTO_TCP, TCP_CONGESTION, how.data(),
                        static_cast<socklen_t>(how.size()))
           == 0;
  }
  std::string chosen() const {
    std::array<char, 16> name{};
    socklen_t size = name.size();
    REQUIRE(
        ::getsockopt(number, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size)
        == 0);
    return name.data();
  }
};

} // namespace

TEST_CASE("what goes to this machine is not paced, where the system paces") {
  bare_socket x;
  if (!x.choose("bbr") || !x.choose("cubic") || !x.choose("bbr"))
    return support::skip("this system has no BBR, or lets nobody choose it");
  avoid_bbr(x.number);
  CHECK(x.chosen() == "cubic");
}

TEST_CASE("how the system sends stays its choice where that paces nothing") {
  bare_socket x;
  REQUIRE(x.choose("reno")); // Every Linux has it.
  avoid_bbr(x.number);
  CHECK(x.chosen() == "reno");
}

TEST_CASE("an idle connection says something before a router forgets it") {
  bare_socket x;
  keep_alive(x.number);
  auto option = [&](int level, int name) {
    int value = 0;
    socklen_t size = sizeof(value);
    REQUIRE(::getsockopt(x.number, level, name, &value, &size) == 0);
    return value;
  };
  CHECK(option(SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(option(IPPROTO_TCP, TCP_KEEPIDLE) <= 25);
  CHECK(option(IPPROTO_TCP, TCP_KEEPINTVL) <= 25);
}
#endif
