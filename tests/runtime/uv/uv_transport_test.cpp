#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <atomic>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

#include "messages/framing.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "tests/contract/transport_probe.hpp"

using namespace potluck;
using namespace potluck::contract;

namespace {

/// A blocking socket that writes what it likes.
class raw_socket {
public:
  explicit raw_socket(const address& to)
      : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(to.port);
    inet_pton(AF_INET, to.host.c_str(), &where.sin_addr);
    REQUIRE(connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof(where))
            == 0);
    timeval patience{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~raw_socket() {
    close(fd_);
  }
  void write(const void* data, std::size_t size) {
    REQUIRE(::send(fd_, data, size, MSG_NOSIGNAL)
            == static_cast<ssize_t>(size));
  }
  /// True when the other side ends the connection within 20 s.
  bool ended() {
    char byte = 0;
    auto size = recv(fd_, &byte, 1, 0);
    return size == 0 || (size < 0 && errno == ECONNRESET);
  }

private:
  int fd_;
};

std::unique_ptr<transport> with(uv_transport_options options = {}) {
  // What is tested here lies below the encryption, or beside it; see
  // tls_connection_test.cpp.
  options.insecure = true;
  return make_uv_transport(options);
}

std::unique_ptr<transport> with_key() {
  uv_transport_options options;
  options.key = key_pair::generate();
  return make_uv_transport(options);
}

const address anywhere{"127.0.0.1", 0};

/// Sends `bytes` from a raw socket and returns why that connection was closed,
/// having checked that another one goes on.
std::string reason_after(const std::vector<std::uint8_t>& bytes,
                         bool and_close) {
  node server{with()};
  node friendly{with()};
  auto where = *server.net->listen(anywhere);
  auto id = friendly.net->dial(where);
  auto far = server.heard->wait_for_accepted();
  REQUIRE(far != 0);
  std::string reason;
  {
    raw_socket hostile{where};
    hostile.write(bytes.data(), bytes.size());
    if (!and_close)
      CHECK(hostile.ended());
  }
  REQUIRE(server.heard->wait([&](auto& all) {
    for (auto& [other, x] : all)
      if (x.closed > 0) {
        CHECK(other != far);
        reason = x.reason;
      }
    return !reason.empty();
  }));
  friendly.net->send(id, {head_of(1), {}});
  CHECK(server.heard->wait_for_frames(far, 1));
  return reason;
}

std::vector<std::uint8_t> preamble_of(std::uint32_t head, std::uint32_t body) {
  auto x = write_preamble({head, body, 0});
  return {x.begin(), x.end()};
}

} // namespace

TEST_CASE("bytes that are no frame close their connection and no other") {
  std::string request = "GET / HTTP/1.1\r\nHost: example\r\n\r\n";
  auto reason = reason_after({request.begin(), request.end()}, false);
  CHECK(reason.find("no frame") != std::string::npos);
}

TEST_CASE("an oversized length closes its connection before memory is taken") {
  CHECK(reason_after(preamble_of(0xffffffff, 0), false).find("no frame")
        != std::string::npos);
  CHECK(reason_after(preamble_of(4, max_body_bytes + 1), false).find("no frame")
        != std::string::npos);
}

TEST_CASE("a corrupt frame closes its connection and no other") {
  for (std::size_t size : {0, 100, 100000}) {
    std::vector<std::uint8_t> head(4, 1), body(size, 2);
    auto preamble = write_preamble(
        preamble_for(head.data(), head.size(), body.data(), body.size()));
    std::vector<std::uint8_t> bytes;
    bytes.reserve(preamble.size() + head.size() + body.size());
    for (auto part :
         {std::vector<std::uint8_t>(preamble.begin(), preamble.end()), head,
          body})
      bytes.insert(bytes.end(), part.begin(), part.end());
    bytes.back() ^= 64;
    CHECK(reason_after(bytes, false).find("corrupt frame") == 0);
  }
}

TEST_CASE("a frame cut short by its sender's end is no frame") {
  auto bytes = preamble_of(4, 100000);
  bytes.resize(bytes.size() + 5000);
  CHECK(reason_after(bytes, true).find("within a frame") != std::string::npos);
  bytes.resize(3);
  CHECK(reason_after(bytes, true).find("within a frame") != std::string::npos);
}

TEST_CASE("many frames in one packet are all delivered") {
  node server{with()};
  auto where = *server.net->listen(anywhere);
  raw_socket peer{where};
  std::vector<std::uint8_t> bytes;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    auto head = head_of(i);
    auto preamble
        = write_preamble(preamble_for(head.data(), head.size(), nullptr, 0));
    bytes.insert(bytes.end(), preamble.begin(), preamble.end());
    bytes.insert(bytes.end(), head.begin(), head.end());
  }
  peer.write(bytes.data(), bytes.size());
  auto id = server.heard->wait_for_accepted();
  REQUIRE(server.heard->wait_for_frames(id, 1000));
  server.heard->with(id, [](history& x) {
    for (std::uint32_t i = 0; i < 1000; ++i)
      CHECK(x.frames[i].head == head_of(i));
  });
}

TEST_CASE("where there are too many connections the oldest stranger's gives "
          "way, and no own dial displaces any") {
  uv_transport_options options;
  CHECK(options.max_connections == most_connections);
  options.max_connections = 2;
  node server{with(options)};
  auto where = *server.net->listen(anywhere);
  raw_socket first{where};
  const auto oldest = server.heard->wait_for_accepted();
  REQUIRE(oldest != 0);
  raw_socket second{where};
  REQUIRE(server.heard->wait([](auto& all) { return all.size() == 2; }));
  raw_socket third{where};
  CHECK(first.ended());
  REQUIRE(server.heard->wait_for_close(oldest));
  CHECK(server.heard->with(oldest, [](auto& x) { return x.reason; })
            .find("made room for others")
        != std::string::npos);
  REQUIRE(server.heard->wait([](auto& all) { return all.size() == 3; }));
  auto id = server.net->dial(where);
  REQUIRE(server.heard->wait_for_close(id));
  CHECK(server.heard->with(id, [](auto& x) { return x.reason; })
            .find("too many connections")
        != std::string::npos);
}

TEST_CASE("connections that are trusted do not give way") {
  uv_transport_options options;
  options.max_connections = 2;
  node server{with(options)};
  auto where = *server.net->listen(anywhere);
  raw_socket first{where}, second{where};
  REQUIRE(server.heard->wait([](auto& all) { return all.size() == 2; }));
  for (auto& [id, x] : server.heard->all())
    server.net->no_stranger(id);
  REQUIRE(server.net->listen(anywhere)); // What was asked before is done.
  raw_socket third{where};
  CHECK(third.ended());
  for (auto& [id, x] : server.heard->all())
    CHECK(x.closed == 0);
}

TEST_CASE("a peer that stops reading is closed, and its bodies are released") {
  uv_transport_options options;
  options.max_queued_bytes = 4 << 20;
  node server{with(options)};
  auto where = *server.net->listen(anywhere);
  raw_socket idle{where};
  auto id = server.heard->wait_for_accepted();
  REQUIRE(id != 0);
  auto body = body_of(1 << 20, 1);
  std::weak_ptr<const void> alive = body.owner;
  server.net->send(id, {head_of(1), body});
  body = {};
  for (int i = 0; i < 64; ++i)
    server.net->send(id, {head_of(1), body_of(1 << 20, 1)});
  REQUIRE(server.heard->wait_for_close(id));
  CHECK(server.heard->with(id, [](auto& x) { return x.reason; })
            .find("stopped reading")
        != std::string::npos);
  server.net->stop();
  CHECK(alive.expired());
}

TEST_CASE("what waits in one array is not counted") {
  uv_transport_options options;
  options.max_queued_bytes = 4 << 20;
  options.queued_arrays = 2;
  node server{with(options)};
  auto where = *server.net->listen(anywhere);
  raw_socket idle{where};
  auto id = server.heard->wait_for_accepted();
  REQUIRE(id != 0);
  const auto gradient = body_of(1 << 20, 1);
  const auto mean = body_of(1 << 20, 2);
  for (int i = 0; i < 64; ++i) {
    server.net->send(id, {head_of(1), gradient});
    server.net->send(id, {head_of(1), mean});
  }
  // Answered by the transport's thread, after all of the above.
  auto other = server.net->dial(where);
  CHECK(server.heard->wait_for_open(other));
  CHECK(server.heard->with(id, [](auto& x) { return x.closed; }) == 0);
  const auto third = body_of(1 << 20, 3);
  for (int i = 0; i < 8; ++i)
    server.net->send(id, {head_of(1), third});
  CHECK(server.heard->wait_for_close(id));
}

TEST_CASE("a close lingers no longer than it was told to") {
  node server{with()};
  auto where = *server.net->listen(anywhere);
  raw_socket idle{where}; // Neither reads nor closes.
  auto id = server.heard->wait_for_accepted();
  for (int i = 0; i < 64; ++i)
    server.net->send(id, {head_of(1), body_of(1 << 20, 1)});
  auto start = std::chrono::steady_clock::now();
  server.net->close(id, 50);
  REQUIRE(server.heard->wait_for_close(id));
  auto took = std::chrono::steady_clock::now() - start;
  CHECK(took >= std::chrono::milliseconds{45});
  CHECK(took < std::chrono::seconds{10});
}

TEST_CASE("a dial that nobody answers ends with its time") {
  // A full accept queue drops what comes: no route to nowhere is needed.
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  inet_pton(AF_INET, "127.0.0.1", &where.sin_addr);
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&where), sizeof(where)) == 0);
  REQUIRE(listen(fd, 0) == 0);
  socklen_t size = sizeof(where);
  getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size);
  uv_transport_options options;
  options.dial_timeout = std::chrono::milliseconds{100};
  node client{with(options)};
  std::vector<connection_id> ids;
  for (int i = 0; i < 8; ++i)
    ids.push_back(client.net->dial({"127.0.0.1", ntohs(where.sin_port)}));
  CHECK(client.heard->wait([&](auto& all) {
    for (auto id : ids)
      if (all[id].closed > 0
          && all[id].reason.find("no answer within 100 ms")
                 != std::string::npos)
        return true;
    return false;
  }));
  client.net->stop();
  close(fd);
}

TEST_CASE("names are looked up, to dial and to listen") {
  node server{with()};
  auto bound = server.net->listen({"localhost", 0});
  REQUIRE_MESSAGE(bound, bound.error());
  CHECK(bound->port != 0);
  node client{with()};
  auto id = client.net->dial({"localhost", bound->port});
  REQUIRE(client.heard->wait_for_open(id));
}

TEST_CASE("what cannot be looked up or bound is a sentence") {
  node x{with_key()};
  auto unknown = x.net->listen({"no such host", 7000});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().find("cannot listen on no such host:7000: ") == 0);
  auto foreign = x.net->listen({"203.0.113.1", 0});
  REQUIRE_FALSE(foreign);
  CHECK(foreign.error().find("listen at an address of this machine")
        != std::string::npos);
  for (auto& where : {address{"no such host", 7000}, address{"", 7000},
                      address{"127.0.0.1", 0}}) {
    auto id = x.net->dial(where);
    REQUIRE(x.heard->wait_for_close(id));
    CHECK(x.heard->with(id, [](auto& h) { return h.reason; })
              .find("cannot connect to ")
          == 0);
  }
}

TEST_CASE("calls that would wait for their own thread throw") {
  struct caller : transport_listener {
    void on_accepted(connection_id, const address&, const peer_id&) override {
    }
    void on_connected(connection_id, const address&, const peer_id&) override {
    }
    void on_frame(connection_id, incoming_frame) override {
    }
    void on_closed(connection_id, const std::string&) override {
      try {
        net->listen(anywhere);
      } catch (const std::logic_error&) {
        ++thrown;
      }
      try {
        net->stop();
      } catch (const std::logic_error&) {
        ++thrown;
      }
    }
    transport* net = nullptr;
    std::atomic<int> thrown{0};
  };
  auto listener = std::make_shared<caller>();
  auto net = with();
  listener->net = net.get();
  net->start(listener);
  net->dial({"", 0}); // Fails; stop() waits until it has.
  net->stop();
  CHECK(listener->thrown == 2);
}
