#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/uv/uv_transport.hpp"
#include "tests/contract/transport_probe.hpp"
#include "tests/support/sanitized.hpp"

using namespace potluck;
using namespace std::chrono_literals;
using contract::transport_probe;

namespace {

const std::vector<double> rates = sanitized
                                      ? std::vector<double>{0.5e6, 4e6}
                                      : std::vector<double>{0.5e6, 4e6, 40e6};

using clock = std::chrono::steady_clock;

struct end_point {
  explicit end_point(double max_upload = 0, double max_download = 0,
                     bool keep_frames = true)
      : listener(std::make_shared<transport_probe>()) {
    listener->keep_frames = keep_frames;
    uv_transport_options how;
    how.key = key_pair::generate();
    how.high_mark_bytes = contract::ample;
    how.max_upload = max_upload;
    how.max_download = max_download;
    network = make_uv_transport(how);
    network->start(listener);
    auto bound = network->listen({"127.0.0.1", 0});
    REQUIRE(bound);
    where = *bound;
  }
  ~end_point() {
    network->stop();
  }

  /// A connection to `to`, as this end and that one know it.
  std::pair<connection_id, connection_id> connect(end_point& to) {
    auto out = network->dial(to.where);
    REQUIRE(listener->wait_for_open(out));
    auto in = to.listener->wait_for_accepted();
    REQUIRE(in != 0);
    // So much waits for members alone.
    network->no_stranger(out);
    to.network->no_stranger(in);
    return {out, in};
  }

  address where;
  std::shared_ptr<transport_probe> listener;
  std::unique_ptr<transport> network;
};

outgoing_frame frame_of(std::size_t size, std::uint8_t first = 0) {
  auto body = std::make_shared<std::vector<std::uint8_t>>(size);
  std::iota(body->begin(), body->end(), first);
  return {{first}, {body, body->data(), body->size()}};
}

double bytes_per_second(std::uint64_t bytes, clock::time_point since) {
  return static_cast<double>(bytes)
         / std::chrono::duration<double>(clock::now() - since).count();
}

/// Checks that `count` grows by `cap` bytes a second, after the burst: never by
/// more, and by no less in some moment of the next ten seconds (where a machine
/// stalls for longer than a burst, the time is lost).
template <class Count>
void check_rate(double cap, Count count) {
  std::this_thread::sleep_for(300ms);
  const auto first = count();
  const auto begin = clock::now();
  double best = 0;
  for (int moment = 0; moment < 5 || (moment < 50 && best < 0.9 * cap);
       ++moment) {
    const auto before = count();
    const auto since = clock::now();
    std::this_thread::sleep_for(200ms);
    best = std::max(best, bytes_per_second(count() - before, since));
  }
  CHECK(bytes_per_second(count() - first, begin) < 1.1 * cap);
  CHECK(best >= 0.9 * cap);
}

} // namespace

TEST_CASE("a capped upload moves data at its rate") {
  for (double cap : rates) {
    CAPTURE(cap);
    end_point a{cap}, b{0, 0, false};
    auto [out, in] = a.connect(b);
    const auto large = frame_of(1 << 20);
    for (int i = 0; i < 500; ++i)
      a.network->send(out, large);
    check_rate(cap, [&] { return b.network->traffic().bytes_received; });
  }
}

TEST_CASE("a capped download moves data at its rate, from any number") {
  for (double cap : rates) {
    CAPTURE(cap);
    end_point a, b{0, cap, false}, c;
    auto [from_a, at_b] = a.connect(b);
    auto [from_c, also_at_b] = c.connect(b);
    const auto large = frame_of(1 << 20);
    for (int i = 0; i < 500; ++i) {
      a.network->send(from_a, large);
      c.network->send(from_c, large);
    }
    check_rate(cap, [&] { return b.network->traffic().bytes_received; });
  }
}

TEST_CASE("a cap leaves the other direction alone") {
  end_point a{0.2e6}, b;
  auto [out, in] = a.connect(b);
  b.network->send(in, frame_of(8 << 20));
  CHECK(a.listener->wait_for_frames(out, 1));
  CHECK(a.network->traffic().bytes_received > 8 << 20);
}

TEST_CASE("however little may be written at a time, records are whole") {
  end_point a{0.2e6}, b; // 1,500 bytes at a time.
  auto [out, in] = a.connect(b);
  // Who reads an answer to its handshake has counted what it wrote for it.
  b.network->send(in, frame_of(1));
  REQUIRE(a.listener->wait_for_frames(out, 1));
  const auto before = a.network->traffic().bytes_sent;
  constexpr std::size_t frames = 4, body = 16'000, preamble_and_head = 21;
  for (std::size_t i = 0; i < frames; ++i)
    a.network->send(out, frame_of(body));
  REQUIRE(b.listener->wait_for_frames(in, frames));
  // One for what is before a body and one for that, of 22 bytes.
  CHECK(a.network->traffic().bytes_sent - before
        <= frames * (body + preamble_and_head + 2 * 22));
  b.listener->with(in, [&](auto& x) {
    for (auto& frame : x.frames) {
      REQUIRE(frame.body.size == body);
      for (std::size_t i = 0; i < body; i += 997)
        REQUIRE(frame.body.data[i] == static_cast<std::uint8_t>(i));
    }
  });
}

TEST_CASE("connections under one cap get equal parts") {
  end_point a{3e6}, b, c, d;
  end_point* all[]{&b, &c, &d};
  std::vector<connection_id> lines;
  for (auto* x : all)
    lines.push_back(a.connect(*x).first);
  const auto large = frame_of(1 << 20);
  for (int i = 0; i < 20; ++i)
    for (auto line : lines)
      a.network->send(line, large);
  std::this_thread::sleep_for(2s);
  const auto whole = a.network->traffic().bytes_sent;
  for (auto* x : all)
    CHECK(static_cast<double>(x->network->traffic().bytes_received)
          == doctest::Approx(static_cast<double>(whole) / 3).epsilon(0.1));
}

TEST_CASE("a small frame does not wait behind another connection's large one") {
  end_point a{1e6}, b, c;
  auto [bulk, at_b] = a.connect(b);
  auto [quick, at_c] = a.connect(c);
  a.network->send(bulk, frame_of(8 << 20));
  std::this_thread::sleep_for(200ms);
  auto begin = clock::now();
  a.network->send(quick, frame_of(100));
  REQUIRE(c.listener->wait_for_frames(at_c, 1));
  CHECK(clock::now() - begin < 200ms);
  CHECK(b.listener->with(at_b, [](auto& x) { return x.frames.empty(); }));
}

TEST_CASE("frames that are cut by caps on both sides arrive whole, in order") {
  end_point a{2e6}, b{0, 1.5e6};
  auto [out, in] = a.connect(b);
  const std::size_t sizes[]{0, 1, 1499, 1500, 1501, 70000, 3, 300001, 65536};
  std::uint8_t number = 0;
  for (auto size : sizes)
    a.network->send(out, frame_of(size, ++number));
  REQUIRE(b.listener->wait_for_frames(in, std::size(sizes)));
  auto got = b.listener->with(in, [](auto& x) { return x.frames; });
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    auto expected = frame_of(sizes[i], static_cast<std::uint8_t>(i + 1));
    CHECK(got[i].head == expected.head);
    REQUIRE(got[i].body.size == sizes[i]);
    CHECK(std::equal(got[i].body.data, got[i].body.data + got[i].body.size,
                     expected.body.data));
  }
}

TEST_CASE("closing and stopping do not wait for a cap") {
  end_point a{20e3, 20e3}, b;
  auto [out, in] = a.connect(b);
  a.network->send(out, frame_of(4 << 20));
  b.network->send(in, frame_of(4 << 20));
  std::this_thread::sleep_for(100ms);
  auto begin = clock::now();
  a.network->close(out, 100);
  REQUIRE(a.listener->wait_for_close(out));
  auto [again, at_b] = a.connect(b);
  a.network->send(again, frame_of(4 << 20));
  a.network->stop();
  CHECK(clock::now() - begin < 1s);
}

TEST_CASE("an urgent frame overtakes what waits, and no other urgent one") {
  end_point sender{1e6};
  end_point receiver;
  auto [out, in] = sender.connect(receiver);
  for (std::uint8_t i = 0; i < 20; ++i)
    sender.network->send(out, frame_of(50'000, i));
  for (std::uint8_t i = 100; i < 103; ++i) {
    auto sign = frame_of(10, i);
    sign.urgent = true;
    sender.network->send(out, sign);
  }
  REQUIRE(receiver.listener->wait_for_frames(in, 23));
  receiver.listener->with(in, [](auto& x) {
    std::vector<std::uint8_t> large, urgent;
    std::size_t place = 0;
    for (std::size_t i = 0; i < x.frames.size(); ++i) {
      auto first = x.frames[i].head.front();
      (first < 100 ? large : urgent).push_back(first);
      if (first == 102)
        place = i;
    }
    CHECK(std::is_sorted(large.begin(), large.end()));
    CHECK(urgent == std::vector<std::uint8_t>{100, 101, 102});
    // Behind those only that had begun.
    CHECK(place <= 12);
  });
}
