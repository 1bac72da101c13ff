/// Several listening addresses, and punching from the first of them.
#include <cstddef>
#include <set>
#include <thread>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/runtime/uv/tls_strangers.hpp"

using namespace potluck;
using namespace potluck::contract;
using namespace potluck::strangers;

namespace {

/// Listens, and knows where.
struct peer : node {
  explicit peer(uv_transport_options x = secure())
      : node{make_uv_transport(x)}, who(x.key->id()),
        where(*net->listen(anywhere)) {
  }
  /// Connections with a proven peer that are not over.
  std::set<connection_id> open() {
    std::set<connection_id> result;
    for (auto& [id, x] : heard->all())
      if (x.opened && x.closed == 0)
        result.insert(id);
    return result;
  }
  bool wait_for_any() {
    return heard->wait([](auto& all) {
      for (auto& [id, x] : all)
        if (x.opened)
          return true;
      return false;
    });
  }
  std::string reason(connection_id id) {
    return heard->with(id, [](auto& x) { return x.reason; });
  }
  peer_id who;
  address where;
};

/// A socket that is bound to a port, but does not listen.
struct quiet_socket {
  quiet_socket() : fd(socket(AF_INET, SOCK_STREAM, 0)) {
    auto any = to_sockaddr(anywhere);
    socklen_t size = sizeof(any);
    REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&any), size) == 0);
    getsockname(fd, reinterpret_cast<sockaddr*>(&any), &size);
    where = {"127.0.0.1", ntohs(any.sin_port)};
    timeval patience{20, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~quiet_socket() {
    close(fd);
  }
  void connect_to(const address& x) const {
    auto to = to_sockaddr(x);
    REQUIRE(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0);
  }
  int fd;
  address where;
};

/// Makes the kernel one without IPv6 to this thread, and to those that it
/// starts.
void forget_ipv6() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{std::size(filter), filter};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

} // namespace

TEST_CASE("a transport listens on several addresses, each once") {
  peer server;
  auto second = server.net->listen(anywhere);
  REQUIRE(second);
  CHECK(second->port != server.where.port);
  for (const auto& where : {server.where, *second}) {
    node client{make_uv_transport(secure())};
    CHECK(client.heard->wait_for_open(client.net->dial(where)));
  }
  CHECK_FALSE(server.net->listen(*second));
  node other{make_uv_transport(secure())};
  for (const auto& where : {server.where, *second}) {
    const auto again = other.net->listen(where);
    REQUIRE_FALSE(again);
    CHECK(again.error().find("stop the other program or listen at another port")
          != std::string::npos);
  }
}

TEST_CASE("one port serves IPv4 and IPv6, by one address or two") {
  for (bool by_two : {false, true}) {
    node server{make_uv_transport(secure())};
    std::uint16_t port = 0;
    if (by_two)
      port = (*server.net->listen({"0.0.0.0", 0})).port;
    const auto six = server.net->listen({"::", port});
    if (!six || six->host != "::") {
      MESSAGE("skipped: this machine has no IPv6");
      return;
    }
    if (by_two)
      CHECK(six->port == port);
    for (const char* host : {"127.0.0.1", "::1"}) {
      node client{make_uv_transport(secure())};
      CHECK(client.heard->wait_for_open(client.net->dial({host, six->port})));
    }
    node other{make_uv_transport(secure())};
    CHECK_FALSE(other.net->listen({"0.0.0.0", six->port}));
    CHECK_FALSE(other.net->listen({"::", six->port}));
  }
}

TEST_CASE("all interfaces are those of IPv4 where the kernel has no IPv6") {
  std::thread{[] {
    forget_ipv6();
    node server{make_uv_transport(secure())};
    const auto where = server.net->listen({"::", 0});
    CHECK_MESSAGE(where, where.error());
    if (!where)
      return;
    CHECK(where->host == "0.0.0.0");
    node client{make_uv_transport(secure())};
    const auto id = client.net->dial({"127.0.0.1", where->port});
    CHECK(client.heard->wait_for_open(id));
  }}.join();
}

TEST_CASE("local addresses have the first port and are nobody's loopback") {
  node x{make_uv_transport(secure())};
  CHECK(x.net->local_addresses().empty());
  const auto first = x.net->listen({"0.0.0.0", 0});
  REQUIRE(first);
  REQUIRE(x.net->listen({"0.0.0.0", 0}));
  for (const auto& where : x.net->local_addresses()) {
    CHECK(where.port == first->port);
    CHECK(is_numeric_host(where.host));
    CHECK(where.host.rfind("127.", 0) != 0);
    CHECK(where.host.rfind("169.254.", 0) != 0);
    CHECK(where.host.find(':') == std::string::npos); // It listens on IPv4.
  }
  CHECK(peer{}.net->local_addresses().empty()); // On loopback alone.
}

TEST_CASE("two that punch at once get one connection, whoever is first") {
  for (bool first_begins : {false, true}) {
    peer one, other;
    one.net->punch(other.where, first_begins);
    other.net->punch(one.where, !first_begins);
    REQUIRE(one.wait_for_any());
    REQUIRE(other.wait_for_any());
    for (auto [here, there] : {std::pair{&one, &other}, {&other, &one}}) {
      const auto open = here->open();
      REQUIRE(open.size() == 1);
      here->heard->with(*open.begin(), [&, far = there](auto& x) {
        CHECK(x.proven == far->who);
        CHECK(x.remote == far->where);
      });
      here->net->send(*open.begin(), {head_of(1), {}});
      CHECK(there->heard->wait_for_frames(*there->open().begin(), 1));
    }
    one.net->stop();
    other.net->stop();
    for (auto* x : {&one, &other})
      for (auto& [id, history] : x->heard->all())
        CHECK(history.closed == 1);
  }
}

TEST_CASE("who waits for the other's encryption adopts what came before it") {
  peer one, other;
  const auto first = one.net->punch(other.where, false); // Says nothing.
  REQUIRE(one.net->listen(anywhere)); // Its thread has punched by now.
  const auto second = other.net->punch(one.where, true);
  CHECK(one.heard->wait_for_open(first));
  CHECK(other.heard->wait_for_open(second));
  CHECK(one.heard->with(first, [](auto& x) { return !x.accepted; }));
  CHECK(other.heard->with(second, [](auto& x) { return !x.accepted; }));
  CHECK(other.heard->all().size() == 1);
}

TEST_CASE("what comes to the listening port from there is the punched one") {
  peer x;
  quiet_socket far; // Refuses what is punched to it.
  const auto id = x.net->punch(far.where, true);
  // Another one from there is too much, as any beside it is.
  CHECK(x.heard->wait_for_close(x.net->punch(far.where, true)));
  far.connect_to(x.where);
  char first = 0;
  REQUIRE(recv(far.fd, &first, 1, 0) == 1);
  CHECK(first == 0x16); // TLS: it begins the handshake, as agreed.
  shutdown(far.fd, SHUT_RDWR);
  REQUIRE(x.heard->wait_for_close(id));
  CHECK(x.reason(id).find("cannot connect to " + to_string(far.where)) == 0);
  CHECK(x.heard->all().size() == 2);
}

TEST_CASE("a punch that cannot be made ends in a sentence, once") {
  peer x;
  for (const auto& where :
       {address{"localhost", 7000}, {"127.0.0.1", 0}, {"", 7000}, x.where}) {
    CAPTURE(to_string(where));
    const auto id = x.net->punch(where, true);
    REQUIRE(x.heard->wait_for_close(id));
    CHECK(x.reason(id).find("cannot punch to ") == 0);
  }
  node deaf{make_uv_transport(secure())}; // Listens nowhere.
  const auto id = deaf.net->punch(x.where, true);
  REQUIRE(deaf.heard->wait_for_close(id));
  quiet_socket refuses;
  const auto closed = x.net->punch(refuses.where, true);
  x.net->close(closed);
  CHECK(x.heard->wait_for_close(closed));
  const auto stopped = x.net->punch(refuses.where, true);
  // Its port is in use for others, whatever punches from it.
  CHECK_FALSE(deaf.net->listen(x.where));
  x.net->stop();
  for (auto i : {closed, stopped})
    CHECK(x.heard->with(i, [](auto& h) { return h.closed; }) == 1);
}
