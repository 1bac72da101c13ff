/// Which of a host's addresses is connected to, and how soon.
#include "runtime/uv/dialer.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/runtime/uv/test_loop.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// A port of this machine in one of three states.
class port {
public:
  enum class state {
    open,   ///< Accepts.
    closed, ///< Refuses.
    deaf,   ///< Its queue is full: it drops what comes.
  };
  explicit port(state x, int family = AF_INET) : listening_(make(family)) {
    sockaddr_storage any{};
    any.ss_family = static_cast<sa_family_t>(family);
    socklen_t size = size_of(any);
    if (family == AF_INET)
      reinterpret_cast<sockaddr_in&>(any).sin_addr.s_addr
          = htonl(INADDR_LOOPBACK);
    else
      reinterpret_cast<sockaddr_in6&>(any).sin6_addr = in6addr_loopback;
    bound_ = ::bind(listening_, reinterpret_cast<sockaddr*>(&any), size) == 0;
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&where), &size);
    if (x != state::closed)
      REQUIRE(::listen(listening_, x == state::open ? 8 : 0) == 0);
    while (x == state::deaf && waiting_.size() < 8) {
      waiting_.push_back(make(family));
      ::connect(waiting_.back(), reinterpret_cast<sockaddr*>(&where), size);
    }
  }
  ~port() {
    ::close(listening_);
    for (int x : waiting_)
      ::close(x);
  }
  port(const port&) = delete;
  port& operator=(const port&) = delete;
  bool bound() const {
    return bound_;
  }

  sockaddr_storage where{};

private:
  static int make(int family) {
    return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
  }
  static socklen_t size_of(const sockaddr_storage& x) {
    return x.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  }
  int listening_;
  std::vector<int> waiting_;
  bool bound_ = false;
};

struct outcome {
  address reached; ///< Empty when nothing was.
  std::string why;
  std::chrono::milliseconds took{0};
};

outcome dial(const std::vector<sockaddr_storage>& found,
             std::chrono::milliseconds patience = 10s) {
  test_loop loop;
  outcome result;
  bool over = false;
  dialer x{&loop.uv,
           {"example", 7000},
           patience,
           [&](tcp_socket socket, const std::string& why) {
             over = true;
             result.why = why;
             sockaddr_storage peer{};
             int size = sizeof(peer);
             if (socket
                 && uv_tcp_getpeername(
                        &socket->tcp, reinterpret_cast<sockaddr*>(&peer), &size)
                        == 0)
               result.reached = to_address(peer);
           },
           "",
           false};
  const auto begin = std::chrono::steady_clock::now();
  x.start(found);
  CHECK(loop.run_until([&] { return over; }));
  result.took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  return result;
}

using state = port::state;

} // namespace

TEST_CASE("an address that never answers costs a quarter of a second") {
  port deaf{state::deaf}, deaf_too{state::deaf}, open{state::open};
  const auto x = dial({deaf.where, deaf_too.where, open.where});
  CHECK(x.reached == to_address(open.where));
  CHECK(x.took >= 490ms);
  CHECK(x.took < 5s);
}

TEST_CASE("an address that refuses costs nothing") {
  std::vector<std::unique_ptr<port>> closed;
  std::vector<sockaddr_storage> found;
  for (int i = 0; i < 30; ++i) {
    closed.push_back(std::make_unique<port>(state::closed));
    found.push_back(closed.back()->where);
  }
  port open{state::open};
  found.push_back(open.where);
  const auto x = dial(found);
  CHECK(x.reached == to_address(open.where));
  CHECK(x.took < 5s); // 30 times 250 ms are more.
}

TEST_CASE("IPv6 is tried before IPv4, wherever it stands") {
  port four{state::open}, six{state::open, AF_INET6};
  if (!six.bound()) // This machine has no IPv6.
    return;
  CHECK(dial({four.where, six.where}).reached == to_address(six.where));
}

TEST_CASE("a dial without any answer says what was wrong last, or its time") {
  port closed{state::closed}, deaf{state::deaf};
  CHECK(dial({closed.where}).why.find("connection refused")
        != std::string::npos);
  CHECK(dial({deaf.where, closed.where}, 400ms).why.find("within 400 ms")
        != std::string::npos);
  CHECK_FALSE(dial({}).why.empty());
}
