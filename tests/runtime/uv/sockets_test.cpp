/// Reading and writing sockets of one loop, on this thread.
#include <cstring>
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "runtime/strangers/limits.hpp"
#include "runtime/uv/framed_socket.hpp"
#include "runtime/uv/listening.hpp"
#include "tests/runtime/uv/noise.hpp"
#include "tests/runtime/uv/test_loop.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr frame_queue::bounds ample{std::size_t{1} << 30, 4};

outgoing_frame frame_of(std::size_t size, std::uint8_t letter) {
  auto body = std::make_shared<bytes>(size, letter);
  return {{letter}, {body, body->data(), size}};
}

/// A transport's part.
struct common {
  common(test_loop& of, bool encrypted, double max_upload = 0,
         double max_download = 0)
      : key(key_pair::generate()),
        sockets(
            &of.uv, encrypted ? &key : nullptr, max_upload, max_download,
            [this](connection_id) { writable(); },
            [this](connection_id) { readable(); },
            [] { return upload_gate::bytes_of_each{}; }) {
  }
  key_pair key;
  std::function<void()> writable = [] {}, readable = [] {};
  socket_context sockets;
};

/// One end of a connection.
struct end_point : framed_socket::listener {
  end_point(common& shared, tcp_socket socket, tls_channel::side which,
            std::size_t high_mark = std::size_t{1} << 30)
      : wire(std::make_unique<framed_socket>(
          1, shared.sockets, std::move(socket),
          shared.sockets.tls
              ? std::make_unique<tls_channel>(*shared.sockets.tls, which)
              : nullptr,
          frame_queue{ample, !shared.sockets.tls},
          std::make_shared<read_credit>(high_mark, high_mark / 2,
                                        [this] { ++resumed; }),
          *this)) {
    shared.writable = [this] { wire ? wire->flush() : void(); };
    shared.readable = [this] { wire ? wire->read_on() : void(); };
  }
  void on_open(const peer_id& x) override {
    open = true;
    proven = x;
  }
  void on_frame(incoming_frame x) override {
    frames.push_back(std::move(x));
  }
  bool on_large(std::size_t) override {
    return true;
  }
  void on_large_over() override {
  }
  void on_wrong(const std::string& x) override {
    wrong = x;
    wire->finish();
  }
  void on_end(const std::string& x) override {
    ended = x;
    wire.reset();
  }
  std::unique_ptr<framed_socket> wire;
  bool open = false;
  peer_id proven;
  std::vector<incoming_frame> frames;
  std::string wrong, ended;
  int resumed = 0;
};

/// Two ends that are connected.
struct pair {
  explicit pair(bool encrypted, double max_upload = 0, double max_download = 0,
                std::size_t high_mark = std::size_t{1} << 30)
      : one(uv, encrypted, max_upload), other(uv, encrypted, 0, max_download) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    near = make(one, ends[0], tls_channel::side::dialler);
    far = make(other, ends[1], tls_channel::side::acceptor, high_mark);
    near->wire->start();
    far->wire->start();
    REQUIRE(uv.run_until([&] { return near->open && far->open; }));
  }
  ~pair() {
    // Held frames give back to what lives as long as they.
    near->wire.reset();
    far->wire.reset();
    one.sockets.uploads.stop();
    other.sockets.downloads.stop();
  }
  std::unique_ptr<end_point> make(common& shared, int file,
                                  tls_channel::side which,
                                  std::size_t high_mark = 1 << 30) {
    auto socket = make_tcp_socket(&uv.uv, nullptr);
    REQUIRE(uv_tcp_open(&socket->tcp, file) == 0);
    return std::make_unique<end_point>(shared, std::move(socket), which,
                                       high_mark);
  }
  test_loop uv;
  common one, other;
  std::unique_ptr<end_point> near, far;
};

} // namespace

TEST_CASE("two ends of a socket say what they mean, encrypted or not") {
  for (bool encrypted : {false, true}) {
    pair x{encrypted};
    if (encrypted)
      CHECK(x.near->proven == x.other.key.id());
    else
      CHECK(x.near->proven.empty());
    for (std::uint8_t i = 0; i < 20; ++i)
      x.near->wire->push(frame_of(i * 30'000u, i));
    x.near->wire->flush();
    REQUIRE(x.uv.run_until([&] { return x.far->frames.size() == 20; }));
    for (std::uint8_t i = 0; i < 20; ++i) {
      CHECK(x.far->frames[i].head == std::vector<std::uint8_t>{i});
      CHECK(x.far->frames[i].body.size == i * 30'000u);
    }
    CHECK(x.one.sockets.sent == x.other.sockets.received);
    x.near->wire->finish();
    REQUIRE(x.uv.run_until([&] { return !x.far->ended.empty(); }));
    CHECK(x.far->ended == "the other side closed the connection");
    CHECK(x.uv.run_until([&] { return !x.near->ended.empty(); }));
  }
}

TEST_CASE("a reader stops above its credit and goes on when it is back") {
  for (bool encrypted : {false, true}) {
    pair x{encrypted, 0, 0, 1 << 20};
    for (std::uint8_t i = 0; i < 40; ++i)
      x.near->wire->push(frame_of(1 << 20, i));
    x.near->wire->flush();
    REQUIRE(x.uv.run_until([&] { return !x.far->frames.empty(); }));
    for (int i = 0; i < 100; ++i)
      uv_run(&x.uv.uv, UV_RUN_NOWAIT);
    CHECK(x.far->frames.size() <= 3);
    CHECK(x.far->resumed == 0);
    for (std::size_t got = x.far->frames.size(); got < 40;
         got += x.far->frames.size()) {
      x.far->frames.clear();
      CHECK(x.far->resumed > 0);
      x.far->wire->resume();
      REQUIRE(x.uv.run_until([&] { return !x.far->frames.empty(); }));
    }
  }
}

TEST_CASE("what is encrypted and being written keeps nobody from being read") {
  pair x{true};
  // A fast line: much is written at once.
  x.one.sockets.uploads.turns().observe({{1, 1e9, true, 1ms, 1ms}});
  x.far->wire->hold(true);
  constexpr std::size_t each = 40'000;
  std::size_t frames = 8;
  static_assert(8 * each > limits::unread_answers);
  SUBCASE("letters") {
    for (std::size_t i = 0; i < frames; ++i)
      x.near->wire->push({std::vector<std::uint8_t>(each, 9), {}});
    x.near->wire->flush();
  }
  SUBCASE("bodies, before which nothing waits but a letter") {
    for (std::size_t i = 0; i < frames; ++i)
      x.near->wire->push(frame_of(each, 9));
    x.near->wire->flush();
    x.near->wire->push({{9}, {}}); // What waits is looked at.
    ++frames;
  }
  REQUIRE(x.near->wire->under_way() > 0); // More than the kernel takes.
  x.far->wire->push(frame_of(0, 7));
  x.far->wire->flush();
  CHECK(x.uv.run_until([&] { return x.near->frames.size() == 1; }));
  x.far->wire->hold(false);
  CHECK(x.uv.run_until([&] { return x.far->frames.size() == frames; }));
}

TEST_CASE("what a reader may read under a cap and does not is others' again") {
  test_loop uv;
  struct nobody : socket_reader::listener {
    frame_reader::window room() override {
      return {nullptr, 0};
    }
    bool on_bytes(const std::uint8_t*, std::size_t) override {
      return false;
    }
    void on_taken() override {
    }
    void on_read_end(int) override {
    }
  } to;
  const auto credit = std::make_shared<read_credit>(1, 0, [] {});
  rate_gate gate{&uv.uv, 1000, [](connection_id) {}};
  std::vector<int> far_ends;
  std::vector<tcp_socket> sockets;
  std::vector<std::unique_ptr<socket_reader>> drained;
  // Many times what the gate gives at once.
  for (connection_id id = 1; id <= 100; ++id) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    far_ends.push_back(ends[1]);
    sockets.push_back(make_tcp_socket(&uv.uv, nullptr));
    REQUIRE(uv_tcp_open(&sockets.back()->tcp, ends[0]) == 0);
    auto x = std::make_unique<socket_reader>(*sockets.back(), id, gate, credit,
                                             to);
    x->read_on();
    if (id % 2 == 0)
      continue; // It ends.
    x->drain();
    drained.push_back(std::move(x));
  }
  CHECK(gate.take(1000, gate.portion()) == gate.portion());
  gate.stop();
  drained.clear();
  sockets.clear();
  for (int end : far_ends)
    close(end);
}

TEST_CASE("caps bound what passes") {
  for (bool up : {false, true}) {
    const double cap = 2e6;
    pair x{true, up ? cap : 0, up ? 0 : cap};
    x.near->wire->push(frame_of(1 << 20, 1));
    const auto begin = std::chrono::steady_clock::now();
    x.near->wire->flush();
    REQUIRE(x.uv.run_until([&] { return !x.far->frames.empty(); }));
    CHECK(std::chrono::steady_clock::now() - begin > 400ms);
  }
}

TEST_CASE("what a write under way refers to outlives the socket's owner") {
  pair x{false};
  // A fast line: all is written at once.
  x.one.sockets.uploads.turns().observe({{1, 1e9, true, 1ms, 1ms}});
  auto frame = frame_of(8 << 20, 1); // More than the kernel takes.
  const std::weak_ptr<const void> alive = frame.body.owner;
  x.near->wire->push(std::move(frame));
  x.near->wire->flush();
  x.near->wire.reset();
  CHECK_FALSE(alive.expired());
  CHECK(x.uv.run_until([&] { return alive.expired(); }));
}

TEST_CASE("what is no TLS is answered by an alert") {
  pair x{true};
  test_loop& uv = x.uv;
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  auto lone = x.make(x.one, ends[0], tls_channel::side::acceptor);
  lone->wire->start();
  REQUIRE(send(ends[1], "GET / HTTP/1.1", 14, MSG_NOSIGNAL) == 14);
  REQUIRE(uv.run_until([&] { return !lone->wrong.empty(); }));
  CHECK(lone->wrong.find("does not speak TLS 1.3") != std::string::npos);
  char answer[10];
  CHECK(recv(ends[1], answer, sizeof(answer), 0) == 7);
  close(ends[1]);
  CHECK(uv.run_until([&] { return !lone->ended.empty(); }));
}

TEST_CASE("an address is bound, refused, or answered when it is too late") {
  test_loop uv;
  std::vector<tcp_socket> came;
  listening x{&uv.uv, true,
              [&](tcp_socket y) { came.push_back(std::move(y)); }};
  std::vector<expected<address>> said;
  auto note = [&](const expected<address>& y) { said.push_back(y); };
  x.listen({"127.0.0.1", 0}, note);
  REQUIRE(said.size() == 1);
  REQUIRE(said[0]);
  x.listen(*said[0], note);
  REQUIRE(said.size() == 2);
  CHECK(said[1].error().find("listen at another port") != std::string::npos);
  x.listen({"0.0.0.0", 0}, note);
  REQUIRE(said.size() == 3);
  CHECK(said[2].error().find("only this machine may connect")
        != std::string::npos);
  x.listen({"localhost", 0}, note); // Has to be looked up.
  x.stop();
  REQUIRE(said.size() == 4);
  CHECK(said[3].error().find("the transport is stopped") != std::string::npos);
}
