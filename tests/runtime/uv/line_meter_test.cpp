#include <mutex>
#include <thread>

#include <doctest/doctest.h>

#include "messages/framing.hpp"
#include "runtime/lines/line_estimator.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "tests/contract/transport_probe.hpp"

using namespace potluck;
using namespace std::chrono_literals;
using contract::transport_probe;

namespace {

/// Measures as the gateway does: every connection is a peer.
struct measuring_probe : transport_probe {
  measuring_probe() {
    keep_frames = false;
  }
  void on_traffic(duration interval,
                  const std::vector<connection_traffic>& traffic) override {
    std::vector<line_traffic> seen;
    std::lock_guard<std::mutex> lock{mutex};
    for (const auto& x : traffic) {
      peer_id id;
      id.bytes[0] = static_cast<std::uint8_t>(x.id);
      seen.push_back({id, x.sent, x.received, x.backlogged, x.round_trip});
      sent += x.sent;
      received += x.received;
      backlogged += x.backlogged;
    }
    ++calls;
    line.observe(interval, seen);
  }

  template <class Condition>
  bool wait_until(Condition condition) {
    for (int i = 0; i < 2000; ++i) {
      {
        std::lock_guard<std::mutex> lock{mutex};
        if (condition())
          return true;
      }
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  std::mutex mutex; ///< For all below.
  line_estimator line;
  std::uint64_t sent = 0, received = 0;
  int backlogged = 0, calls = 0;
};

struct end_point {
  explicit end_point(double max_upload = 0, double max_download = 0)
      : heard(std::make_shared<measuring_probe>()) {
    uv_transport_options how;
    how.key = key_pair::generate();
    how.max_upload = max_upload;
    how.max_download = max_download;
    network = make_uv_transport(how);
    network->start(heard);
    where = *network->listen({"127.0.0.1", 0});
  }
  ~end_point() {
    network->stop();
  }
  connection_id connect(end_point& to) {
    auto id = network->dial(to.where);
    REQUIRE(heard->wait_for_open(id));
    return id;
  }

  address where;
  std::shared_ptr<measuring_probe> heard;
  std::unique_ptr<transport> network;
};

outgoing_frame frame_of(std::size_t size) {
  return {{1}, contract::body_of(size, 1)};
}

} // namespace

TEST_CASE("every byte is told once, to the sender when it has arrived") {
  end_point a, b;
  auto id = a.connect(b);
  for (int i = 0; i < 20; ++i)
    a.network->send(id, frame_of(100'000));
  REQUIRE(b.heard->wait_for_frames(b.heard->wait_for_accepted(), 20));
  // Handshakes and records are on the line, too.
  const auto whole = b.network->traffic().bytes_received;
  CHECK(whole > 20 * (100'000 + 1 + preamble_bytes));
  CHECK(whole < 20 * 101'000);
  CHECK(b.heard->wait_until([&] { return b.heard->received == whole; }));
  // The kernel counts the connection's beginning as a byte.
  CHECK(a.heard->wait_until([&] { return a.heard->sent >= whole; }));
  CHECK(a.heard->sent <= whole + 1);
  CHECK(a.network->traffic().bytes_sent == whole);
}

TEST_CASE("nothing is told while nothing passes") {
  end_point a, b;
  auto id = a.connect(b);
  a.network->send(id, frame_of(10));
  REQUIRE(b.heard->wait_until([&] { return b.heard->received > 0; }));
  std::this_thread::sleep_for(500ms);
  auto before = a.heard->calls;
  std::this_thread::sleep_for(500ms);
  CHECK(a.heard->calls == before);
  CHECK(a.heard->backlogged == 0);
  CHECK(a.heard->line.upload() == 0);
}

TEST_CASE("a line that a cap makes is measured as that") {
  end_point a{3e6}, b, c;
  auto to_b = a.connect(b), to_c = a.connect(c);
  for (int i = 0; i < 20; ++i) {
    a.network->send(to_b, frame_of(1 << 20));
    a.network->send(to_c, frame_of(1 << 20));
  }
  CHECK(a.heard->wait_until([&] {
    return a.heard->line.upload() == doctest::Approx(3e6).epsilon(0.1);
  }));
  // A lower bound, and the best that was sustained.
  CHECK(b.heard->wait_until([&] {
    return b.heard->line.upload() == 0 && b.heard->line.download() > 1e6
           && b.heard->line.download() < 3.3e6;
  }));
}

TEST_CASE("a receiver that is slow is measured through the kernel's buffers") {
  end_point a, b{0, 2e6};
  auto id = a.connect(b);
  for (int i = 0; i < 30; ++i)
    a.network->send(id, frame_of(1 << 20));
  CHECK(a.heard->wait_until([&] {
    return a.heard->backlogged > 5
           && a.heard->line.upload() == doctest::Approx(2e6).epsilon(0.2);
  }));
}
