/// Strangers that make a peer hold memory, over real sockets: others are served
/// meanwhile.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "messages/framing.hpp"
#include "runtime/strangers/limits.hpp"
#include "tests/runtime/uv/tls_strangers.hpp"

using namespace potluck;
using namespace potluck::contract;
using namespace potluck::strangers;

namespace {

/// A socket whose buffer for what comes is small, so that little that is sent
/// to it leaves the sender.
class deaf_wire : public wire {
public:
  explicit deaf_wire(const address& to) : wire(open(to)) {
  }

private:
  static int open(const address& to) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const int bytes = 128 * 1024;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    auto where = to_sockaddr(to);
    REQUIRE(connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof(where))
            == 0);
    return fd;
  }
};

std::string letter() {
  const std::vector<std::uint8_t> head(20, 7);
  const auto x
      = write_preamble(preamble_for(head.data(), head.size(), nullptr, 0));
  return std::string{x.begin(), x.end()}
         + std::string{head.begin(), head.end()};
}

outgoing_frame answer() {
  return {std::vector<std::uint8_t>(40'000, 9), {}};
}

/// A friendly peer of an insecure server gets an answer to each letter.
void check_served(node& server, const address& where) {
  node friendly{make_uv_transport(insecure())};
  const auto before = server.heard->all();
  const auto line = friendly.net->dial(where);
  REQUIRE(friendly.heard->wait_for_open(line));
  connection_id far = 0;
  REQUIRE(server.heard->wait([&](auto& all) {
    for (auto& [id, x] : all)
      if (before.count(id) == 0 && x.accepted)
        far = id;
    return far != 0;
  }));
  for (std::size_t i = 1; i <= 20; ++i) {
    friendly.net->send(line, {head_of(1), {}});
    REQUIRE(server.heard->wait_for_frames(far, i));
    server.net->send(far, answer());
    REQUIRE(friendly.heard->wait_for_frames(line, i));
  }
}

} // namespace

TEST_CASE("who does not read its answers is not read, until it does") {
  node server{make_uv_transport(insecure())};
  const auto where = *server.net->listen(anywhere);
  deaf_wire line{where};
  const auto id = server.heard->wait_for_accepted();
  REQUIRE(id != 0);
  line.write(letter());
  REQUIRE(server.heard->wait_for_frames(id, 1));
  // More than sockets hold.
  constexpr std::size_t answers = 400;
  for (std::size_t i = 0; i < answers; ++i)
    server.net->send(id, answer());
  REQUIRE(server.net->listen(anywhere)); // They are queued.
  line.write(letter());
  check_served(server, where);
  CHECK(server.heard->with(id, [](auto& x) { return x.frame_count; }) == 1);
  // It reads.
  std::size_t got = 0;
  std::vector<char> some(1 << 20);
  while (got < answers * 40'000) {
    const auto size = recv(line.fd(), some.data(), some.size(), 0);
    REQUIRE(size > 0);
    got += static_cast<std::size_t>(size);
  }
  CHECK(server.heard->wait_for_frames(id, 2));
}

TEST_CASE("two that send each other many small bodies read each other") {
  node one{make_uv_transport(secure()), false};
  node other{make_uv_transport(secure()), false};
  const auto there = one.net->dial(*other.net->listen(anywhere));
  REQUIRE(one.heard->wait_for_open(there));
  const auto here = other.heard->wait_for_accepted();
  REQUIRE(here != 0);
  const std::pair<node*, connection_id> ends[]{{&one, there}, {&other, here}};
  for (auto [x, id] : ends)
    x->net->hold(id, true);
  // Far more than sockets hold.
  constexpr std::size_t frames = 80'000;
  const auto body = body_of(200, 1);
  for (auto [x, id] : ends)
    for (std::uint32_t i = 0; i < frames; ++i)
      x->net->send(id, {head_of(i), body});
  for (auto [x, id] : ends)
    REQUIRE(x->net->listen(anywhere)); // They are queued.
  for (auto [x, id] : ends)
    x->net->hold(id, false);
  for (auto [x, id] : ends)
    CHECK(x->heard->wait_for_frames(id, frames));
}

TEST_CASE("who works with this peer is read, whatever waits for it") {
  node server{make_uv_transport(insecure())};
  const auto where = *server.net->listen(anywhere);
  deaf_wire line{where};
  const auto id = server.heard->wait_for_accepted();
  REQUIRE(id != 0);
  for (std::size_t i = 0; i < 400; ++i)
    server.net->send(id, answer());
  server.net->no_stranger(id);
  line.write(letter());
  CHECK(server.heard->wait_for_frames(id, 1));
}

TEST_CASE("of many that do not read those give way that came from one home") {
  node server{make_uv_transport(insecure())};
  const auto where = *server.net->listen(anywhere);
  std::vector<std::unique_ptr<deaf_wire>> deaf;
  for (int i = 0; i < 20; ++i)
    deaf.push_back(std::make_unique<deaf_wire>(where));
  REQUIRE(server.heard->wait([](auto& all) {
    return std::count_if(all.begin(), all.end(),
                         [](auto& x) { return x.second.accepted; })
           == 20;
  }));
  const auto all = server.heard->all();
  // More than is allowed, beside what sockets hold, which may be 10 MB each.
  constexpr std::size_t each
      = limits::unread_answers_of_all / 20 + 10 * (std::size_t{1} << 20);
  for (std::size_t sent = 0; sent < each; sent += 40'000)
    for (auto& [id, x] : all)
      server.net->send(id, answer());
  REQUIRE(server.heard->wait([](auto& xs) {
    return std::any_of(xs.begin(), xs.end(), [](auto& x) {
      return x.second.closed > 0
             && x.second.reason.find("does not read its answers")
                    != std::string::npos;
    });
  }));
  check_served(server, where);
}

TEST_CASE("bodies that end one byte short wait for each other, and nobody for "
          "them") {
  node server{make_uv_transport(insecure())};
  const auto where = *server.net->listen(anywhere);
  const std::vector<std::uint8_t> head(20, 1), body(max_body_bytes, 2);
  const auto preamble = write_preamble(
      preamble_for(head.data(), head.size(), body.data(), body.size()));
  std::string frame{preamble.begin(), preamble.end()};
  frame.append(head.begin(), head.end());
  frame.append(body.begin(), body.end());
  std::vector<std::unique_ptr<wire>> all;
  std::size_t whole = 0;
  wire* nearly = nullptr;
  for (int i = 0; i < 8; ++i) {
    all.push_back(std::make_unique<wire>(where));
    timeval patience{0, 300'000};
    setsockopt(all.back()->fd(), SOL_SOCKET, SO_SNDTIMEO, &patience,
               sizeof(patience));
    // Where it is not read, sockets fill up, and take no more.
    std::size_t at = 0;
    while (at < frame.size() - 1) {
      const auto size = ::send(all.back()->fd(), frame.data() + at,
                               frame.size() - 1 - at, MSG_NOSIGNAL);
      if (size <= 0)
        break;
      at += static_cast<std::size_t>(size);
    }
    if (at == frame.size() - 1) {
      ++whole;
      nearly = all.back().get();
    }
  }
  REQUIRE(whole == 1);
  check_served(server, where);
  // Its end makes room for the next one.
  nearly->write(frame.substr(frame.size() - 1));
  REQUIRE(server.heard->wait([](auto& xs) {
    return std::any_of(xs.begin(), xs.end(), [](auto& x) {
      return x.second.frame_count > 0 && x.second.frames[0].body.size > 0;
    });
  }));
  std::size_t more = 0;
  for (auto& x : all)
    if (x.get() != nearly)
      more += ::send(x->fd(), frame.data(), 1 << 20, MSG_NOSIGNAL) > 0;
  CHECK(more == 1);
}

TEST_CASE("a held connection is not read, and then it is") {
  node server{make_uv_transport(insecure())};
  const auto where = *server.net->listen(anywhere);
  wire line{where};
  const auto id = server.heard->wait_for_accepted();
  REQUIRE(id != 0);
  server.net->hold(id, true);
  REQUIRE(server.net->listen(anywhere)); // It was told.
  line.write(letter());
  check_served(server, where);
  CHECK(server.heard->with(id, [](auto& x) { return x.frame_count; }) == 0);
  server.net->hold(id, false);
  CHECK(server.heard->wait_for_frames(id, 1));
}

TEST_CASE("300 idle sockets keep nobody out, neither who comes nor a dial") {
  node server{make_uv_transport(secure())};
  const auto where = *server.net->listen(anywhere);
  std::vector<std::unique_ptr<wire>> idle;
  for (int i = 0; i < 300; ++i)
    idle.push_back(std::make_unique<wire>(where));
  node friendly{make_uv_transport(secure())};
  const auto there = *friendly.net->listen(anywhere);
  for (int i = 0; i < 3; ++i) {
    const auto id = server.net->dial(there);
    CHECK(server.heard->wait_for_open(id));
  }
  // From another home, since this one has had its handshakes of a while.
  auto how = secure();
  how.dial_from = "127.0.1.1";
  node other{make_uv_transport(how)};
  for (int i = 0; i < 3; ++i)
    CHECK(other.heard->wait_for_open(other.net->dial(where)));
}
