#include "tools/lab/network/packet_network.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/tcp_packets.hpp"

using namespace potluck;
using namespace potluck::support;
using namespace std::chrono_literals;

namespace {

const time_point start{1h};
constexpr int many = 4000;

/// Hosts 0, 1 and 2 with addresses 1, 2 and 3 and no limits.
struct three_hosts {
  packet_network net{7};

  three_hosts() {
    for (std::uint32_t address : {1, 2, 3})
      net.add(address);
  }

  void set(std::size_t host, const access_line& x) {
    net.lines().set_line(host, x);
  }

  line_counters totals() const {
    return net.lines().totals();
  }

  void send(std::size_t from, std::size_t to, unsigned flags,
            const std::string& payload = "", time_point at = start,
            std::uint32_t sequence = 0) {
    net.send(at, {from, to, packet(from, to, flags, payload, sequence)});
  }

  static packet_bytes packet(std::size_t from, std::size_t to, unsigned flags,
                             const std::string& payload,
                             std::uint32_t sequence) {
    auto end = [](std::size_t x) {
      return tcp_end{static_cast<std::uint32_t>(x + 1), 7000};
    };
    return tcp_packet({end(from), end(to), flags, sequence, 9, payload});
  }

  std::size_t passes(std::size_t from, std::size_t to, unsigned flags,
                     const std::string& payload = "") {
    net.arrived(start + 1h);
    send(from, to, flags, payload, start + 1h);
    return net.arrived(start + 1h).size();
  }
};

} // namespace

TEST_CASE("a partition parts its side from the rest, and no one else") {
  three_hosts x;
  auto first = x.net.lines().part({0, 1});
  auto second = x.net.lines().part({0});
  CHECK(x.passes(0, 1, flag_ack) == 0);
  CHECK(x.passes(1, 2, flag_ack) == 0);
  CHECK(x.passes(0, 2, flag_ack) == 0);
  CHECK(x.totals().blocked == 3);
  x.net.lines().reunite(second);
  CHECK(x.passes(0, 1, flag_ack) == 1);
  CHECK(x.passes(1, 2, flag_ack) == 0);
  x.net.lines().reunite(first);
  CHECK(x.passes(1, 2, flag_ack) == 1);
}

TEST_CASE("a deaf host gets no data, but speaks, and is acknowledged") {
  three_hosts x;
  access_line deaf;
  deaf.deaf = true;
  x.set(1, deaf);
  CHECK(x.passes(0, 1, flag_ack, "data") == 0);
  CHECK(x.passes(0, 1, flag_ack) == 1);
  CHECK(x.passes(0, 1, flag_syn) == 1);
  CHECK(x.passes(1, 0, flag_ack, "data") == 1);
}

TEST_CASE("shares of packets are lost, changed, doubled and late, both ways") {
  for (bool back : {false, true}) {
    CAPTURE(back);
    three_hosts x;
    access_line bad;
    bad.loss_up = bad.loss_down = 0.1;
    bad.duplicate = 0.05;
    bad.corrupt = 0.2;
    x.set(0, bad);
    for (int i = 0; i < many; ++i)
      x.send(back ? 1 : 0, back ? 0 : 1, flag_ack, "data", start, i);
    const auto came = x.net.arrived(start + 1s);
    const auto totals = x.totals();
    CHECK(totals.lost == doctest::Approx(0.1 * many).epsilon(0.2));
    CHECK(totals.duplicated == doctest::Approx(0.045 * many).epsilon(0.3));
    CHECK(totals.corrupted == doctest::Approx(0.18 * many).epsilon(0.2));
    CHECK(came.size() == many - totals.lost + totals.duplicated);
    std::uint64_t changed = 0;
    for (const auto& p : came) {
      CHECK(checksums_fit(p.bytes));
      changed += std::string(p.bytes.end() - 4, p.bytes.end()) != "data";
    }
    CHECK(changed >= totals.corrupted);
  }
}

TEST_CASE("what carries no data is not changed") {
  three_hosts x;
  access_line noisy;
  noisy.corrupt = 1;
  x.set(0, noisy);
  CHECK(x.passes(0, 1, flag_ack) == 1);
  CHECK(x.totals().corrupted == 0);
  CHECK(x.passes(0, 1, flag_ack, "data") == 1);
  CHECK(x.totals().corrupted == 1);
}

TEST_CASE("a packet that is late is overtaken, within 50 ms, and comes once") {
  three_hosts x;
  access_line mixed;
  mixed.reorder = 0.1;
  x.set(0, mixed);
  std::vector<std::uint32_t> order;
  auto at = start;
  auto look = [&] {
    for (const auto& p : x.net.arrived(at)) {
      auto number = sequence_of(p.bytes);
      CHECK(at <= start + number * 1ms + 51ms);
      order.push_back(number);
    }
  };
  for (int i = 0; i < 1000; ++i, at += 1ms) {
    x.send(0, 1, flag_ack, "data", at, i);
    look();
  }
  CHECK(x.net.next());
  for (int i = 0; i < 50; ++i, at += 1ms)
    look();
  CHECK_FALSE(x.net.next());
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  REQUIRE(order.size() == 1000);
  for (std::uint32_t i = 0; i < 1000; ++i)
    REQUIRE(order[i] == i);
}

TEST_CASE("when a host's connections are cut, both ends get resets alone") {
  three_hosts x;
  x.send(0, 1, flag_syn);
  x.send(1, 0, flag_syn | flag_ack);
  x.send(0, 1, flag_ack);
  CHECK(x.net.arrived(start).size() == 3);
  x.send(0, 1, flag_ack, "under way");
  CHECK(x.net.cut(start, 1) == 1);
  std::vector<std::size_t> told;
  for (const auto& p : x.net.arrived(start)) {
    CHECK(read_tcp(p.bytes)->reset);
    told.push_back(p.to);
  }
  std::sort(told.begin(), told.end());
  CHECK(told == std::vector<std::size_t>{0, 1});
  // Who has not heard of it hears again.
  x.send(0, 1, flag_ack, "more");
  auto answer = x.net.arrived(start);
  REQUIRE(answer.size() == 1);
  CHECK(answer[0].to == 0);
  CHECK(read_tcp(answer[0].bytes)->reset);
  CHECK(x.passes(0, 1, flag_syn) == 1);
  CHECK(x.passes(0, 1, flag_ack, "anew") == 1);
}
