/// What somebody on the way sees of a connection.
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "messages/codec.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "tests/contract/transport_probe.hpp"

using namespace potluck;
using namespace potluck::contract;

namespace {

/// Passes one connection on to `to`, both ways, and keeps all its bytes.
class tap {
public:
  explicit tap(const address& to) : listening_(open()), to_(to) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(listening_, reinterpret_cast<sockaddr*>(&any), sizeof(any))
            == 0);
    REQUIRE(listen(listening_, 1) == 0);
    thread_ = std::thread{[this] { pass(); }};
  }
  ~tap() {
    stop_ = true;
    thread_.join();
    close(listening_);
  }
  address where() const {
    sockaddr_in x{};
    socklen_t size = sizeof(x);
    getsockname(listening_, reinterpret_cast<sockaddr*>(&x), &size);
    return {"127.0.0.1", ntohs(x.sin_port)};
  }
  /// Of both directions, in the order of their coming.
  std::string seen() {
    std::lock_guard<std::mutex> lock{mutex_};
    return seen_;
  }

private:
  static int open() {
    return socket(AF_INET, SOCK_STREAM, 0);
  }
  bool ready(int fd) const {
    pollfd x{fd, POLLIN, 0};
    return poll(&x, 1, 10) > 0;
  }
  void pass() {
    while (!stop_ && !ready(listening_)) {
    }
    if (stop_)
      return;
    int ends[]{accept(listening_, nullptr, nullptr), open()};
    sockaddr_in x{};
    x.sin_family = AF_INET;
    x.sin_port = htons(to_.port);
    inet_pton(AF_INET, to_.host.c_str(), &x.sin_addr);
    bool alive
        = connect(ends[1], reinterpret_cast<sockaddr*>(&x), sizeof(x)) == 0;
    char some[65536];
    while (alive && !stop_) {
      pollfd both[]{{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}};
      if (poll(both, 2, 10) <= 0)
        continue;
      for (int i = 0; i < 2 && alive; ++i) {
        if (both[i].revents == 0)
          continue;
        auto n = recv(ends[i], some, sizeof(some), 0);
        alive = n > 0;
        if (!alive)
          continue;
        // Before it goes on: whatever arrived has been seen.
        {
          std::lock_guard<std::mutex> lock{mutex_};
          seen_.append(some, static_cast<std::size_t>(n));
        }
        alive
            = send(ends[1 - i], some, static_cast<std::size_t>(n), MSG_NOSIGNAL)
              == n;
      }
    }
    close(ends[0]);
    close(ends[1]);
  }

  int listening_;
  address to_;
  std::mutex mutex_; ///< For `seen_`.
  std::string seen_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

const std::string secret = "the soup is at table seven";

/// All that passed while two transports said `secret` to each other in letters
/// and in bodies.
std::string overheard(const uv_transport_options& one,
                      const uv_transport_options& other) {
  node server{make_uv_transport(one)};
  node client{make_uv_transport(other)};
  tap between{*server.net->listen({"127.0.0.1", 0})};
  auto id = client.net->dial(between.where());
  REQUIRE(client.heard->wait_for_open(id));
  auto far = server.heard->wait_for_accepted();
  REQUIRE(far != 0);
  auto body = std::make_shared<std::string>();
  while (body->size() < 200'000)
    *body += secret;
  auto* bytes = reinterpret_cast<const std::uint8_t*>(body->data());
  for (auto [node, line] : {std::pair{&client, id}, std::pair{&server, far}}) {
    node->net->send(line, {encode(goodbye{secret}), {}});
    node->net->send(line,
                    {encode(refusal{secret}), {body, bytes, body->size()}});
  }
  for (auto [node, line] : {std::pair{&client, id}, std::pair{&server, far}}) {
    REQUIRE(node->heard->wait_for_frames(line, 2));
    node->heard->with(line, [&](history& x) {
      REQUIRE(x.frames[1].body.size == body->size());
      CHECK(std::memcmp(x.frames[1].body.data, bytes, body->size()) == 0);
      auto& head = x.frames[0].head;
      auto letter = decode(head.data(), head.size(), 0);
      REQUIRE(letter);
      CHECK(std::get<goodbye>(*letter).reason == secret);
    });
  }
  return between.seen();
}

bool contains(const std::string& all, const std::string& part) {
  return all.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("whoever is on the way reads all of an insecure connection") {
  uv_transport_options how;
  how.insecure = true;
  auto seen = overheard(how, how);
  CHECK(contains(seen, secret));
  CHECK(contains(seen, "PLK3"));
}

TEST_CASE("whoever is on the way reads nothing of an encrypted connection") {
  uv_transport_options one, other;
  one.key = key_pair::generate();
  other.key = key_pair::generate();
  auto seen = overheard(one, other);
  REQUIRE(seen.size() > 400'000);
  // Not a piece of it, in whatever way it were cut.
  for (std::size_t i = 0; i + 8 <= secret.size(); ++i)
    CHECK_FALSE(contains(seen, secret.substr(i, 8)));
  CHECK_FALSE(contains(seen, "PLK3"));
  // Nor who they are: certificates travel encrypted, too.
  for (auto& x : {one, other}) {
    auto& id = x.key->id().bytes;
    CHECK_FALSE(contains(seen, {id.begin(), id.end()}));
    auto key = *public_key_of(x.key->native());
    CHECK_FALSE(contains(seen, {key.bytes.begin(), key.bytes.end()}));
  }
  // Whatever repeats in it shows nowhere.
  std::set<std::string> blocks;
  std::size_t count = 0;
  for (std::size_t i = seen.size() - 100'000; i + 16 <= seen.size(); i += 16) {
    blocks.insert(seen.substr(i, 16));
    ++count;
  }
  CHECK(blocks.size() == count);
}
