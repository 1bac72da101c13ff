#include "tools/lab/network/packet_network.hpp"

#include <doctest/doctest.h>

#include "tools/lab/network/network_description.hpp"
#include "tools/lab/scenario/scenario.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t packet_bytes = 1250;
const time_point start{1h};

network_description network_of(const std::string& text) {
  auto x = parse_network(text);
  REQUIRE_MESSAGE(x, (x ? "" : x.error()));
  return *x;
}

/// A network as a description says.
struct described {
  explicit described(const std::string& text)
      : what{network_of(text)}, net{what.seed} {
    std::uint32_t address = 0;
    for (auto& host : what.hosts)
      net.add(++address, host.line);
    for (auto& x : what.links) {
      link(x.from, x.to, x);
      if (x.both)
        link(x.to, x.from, x);
    }
  }
  void link(const std::string& from, const std::string& to,
            const network_link& how) {
    auto a = what.members(from).at(0), b = what.members(to).at(0);
    if (how.blocked)
      net.lines().block(a, b);
    net.lines().limit(a, b, how.limit, how.delay);
  }

  network_description what;
  packet_network net;
};

packet_network::packet packet(std::size_t from, std::size_t to,
                              std::uint8_t mark = 0) {
  return {from, to, std::vector<std::uint8_t>(packet_bytes, mark)};
}

/// Offers packets at `offered` bytes per second for `how_long`; the bytes per
/// second that arrived.
double throughput(packet_network& net, std::size_t from, std::size_t to,
                  double offered, duration how_long, time_point begin = start) {
  const auto gap
      = duration{static_cast<duration::rep>(1e9 * packet_bytes / offered)};
  net.arrived(begin); // What an earlier call left.
  std::size_t bytes = 0;
  for (auto t = begin; t < begin + how_long; t += gap) {
    net.send(t, packet(from, to));
    for (auto& x : net.arrived(t))
      bytes += x.bytes.size();
  }
  return static_cast<double>(bytes) / to_seconds(how_long);
}

} // namespace

TEST_CASE("a line passes its rate and drops the rest") {
  described it{R"({"hosts": [
    {"name": "a", "upload": "20mbit"}, {"name": "b"}]})"};
  auto& net = it.net;
  CHECK(throughput(net, 0, 1, 10e6, 4s)
        == doctest::Approx(2.5e6).epsilon(0.03));
  CHECK(net.lines().of(0).dropped > 0);
  CHECK(net.lines().of(0).sent + net.lines().of(0).dropped == 32000);
}

TEST_CASE("the receiver's line and the pair's limit hold, too") {
  described it{R"({
    "hosts": [{"name": "a"}, {"name": "b", "download": "8mbit"},
              {"name": "c"}],
    "links": [{"from": "a", "to": "c", "limit": "4mbit"}]})"};
  auto& net = it.net;
  CHECK(throughput(net, 0, 1, 4e6, 4s) == doctest::Approx(1e6).epsilon(0.03));
  CHECK(throughput(net, 0, 2, 4e6, 4s, start + 10s)
        == doctest::Approx(5e5).epsilon(0.03));
  // The way back has no limit.
  CHECK(throughput(net, 2, 0, 4e6, 4s, start + 20s)
        == doctest::Approx(4e6).epsilon(0.03));
}

TEST_CASE("an idle line saves nothing up") {
  described it{R"({"hosts": [
    {"name": "a", "upload": "10mbit"}, {"name": "b"}]})"};
  auto& net = it.net;
  net.send(start, packet(0, 1));
  net.arrived(start + 1h);
  for (int i = 0; i < 10; ++i)
    net.send(start + 1h, packet(0, 1));
  CHECK(net.arrived(start + 1h + 5500us).size() == 5);
  CHECK(net.arrived(start + 1h + 10ms).size() == 5);
}

TEST_CASE("a packet takes both delays and its own transmission") {
  described it{R"({
    "hosts": [{"name": "a", "delay": "20ms", "upload": "10mbit"},
              {"name": "b", "delay": "30ms"}],
    "links": [{"from": "a", "to": "b", "delay": "5ms"}]})"};
  auto& net = it.net;
  net.send(start, packet(0, 1, 42));
  REQUIRE(net.next());
  CHECK(*net.next() == start + 56ms);
  CHECK(net.arrived(start + 56ms - 1ns).empty());
  auto got = net.arrived(start + 56ms);
  REQUIRE(got.size() == 1);
  CHECK(got[0].to == 1);
  CHECK(got[0].bytes[0] == 42);
  CHECK(!net.next());
}

TEST_CASE("jitter spreads arrivals but keeps a pair's order") {
  described it{R"({"hosts": [
    {"name": "a", "delay": "10ms", "jitter": "20ms"}, {"name": "b"}]})"};
  auto& net = it.net;
  duration least = 1h, most{0};
  for (int i = 0; i < 200; ++i) {
    auto t = start + i * 100ms;
    net.send(t, packet(0, 1, static_cast<std::uint8_t>(i)));
    auto took = *net.next() - t;
    least = std::min(least, took);
    most = std::max(most, took);
    net.arrived(t + 50ms);
  }
  CHECK(least < 12ms);
  CHECK(least >= 10ms);
  CHECK(most > 28ms);
  CHECK(most <= 30ms);
  for (int i = 0; i < 100; ++i)
    net.send(start + 1min, packet(0, 1, static_cast<std::uint8_t>(i)));
  auto got = net.arrived(start + 2min);
  REQUIRE(got.size() == 100);
  for (std::size_t i = 0; i < 100; ++i)
    CHECK(got[i].bytes[0] == i);
}

TEST_CASE("loss takes its share, the same packets for the same seed") {
  auto lost = [](int seed) {
    described it{
        R"({"seed": )" + std::to_string(seed)
        + R"(, "hosts": [{"name": "a", "loss": "5%"}, {"name": "b"}]})"};
    auto& net = it.net;
    std::vector<int> result;
    for (int i = 0; i < 10000; ++i) {
      net.send(start, packet(0, 1));
      if (net.arrived(start).empty())
        result.push_back(i);
    }
    return result;
  };
  auto once = lost(7);
  CHECK(once.size() > 400);
  CHECK(once.size() < 600);
  CHECK(once == lost(7));
  CHECK(once != lost(8));
}

TEST_CASE("nothing passes a blocked pair, in the blocked direction") {
  described it{R"({
    "hosts": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
    "links": [{"from": "a", "to": "b", "blocked": true},
              {"from": "b", "to": "c", "both": true, "blocked": true}]})"};
  auto& net = it.net;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      if (i != j)
        net.send(start, packet(i, j, static_cast<std::uint8_t>(10 * i + j)));
  std::vector<int> got;
  for (auto& x : net.arrived(start + 1s))
    got.push_back(x.bytes[0]);
  CHECK(got == std::vector<int>{2, 10, 20});
  CHECK(net.lines().of(0).blocked == 1);
  CHECK(net.lines().of(1).blocked == 1);
  CHECK(net.lines().of(2).blocked == 1);
}

TEST_CASE("a line that changes has its new rate at once") {
  described it{R"({"hosts": [
    {"name": "a", "upload": "20mbit"}, {"name": "b"}]})"};
  auto& net = it.net;
  throughput(net, 0, 1, 10e6, 2s);
  line_change halved;
  halved.upload = 1.25e6;
  auto line = net.lines().line_of(0);
  halved.apply(line);
  net.lines().set_line(0, line);
  CHECK(throughput(net, 0, 1, 10e6, 4s, start + 2s)
        == doctest::Approx(1.25e6).epsilon(0.1));
}

TEST_CASE("a queue holds no more than its time's worth") {
  described it{R"({"hosts": [
    {"name": "a", "upload": "10mbit", "queue": "50ms"}, {"name": "b"}]})"};
  auto& net = it.net;
  for (int i = 0; i < 1000; ++i)
    net.send(start, packet(0, 1));
  auto got = net.arrived(start + 10s);
  CHECK(got.size() >= 50);
  CHECK(got.size() <= 52);
  CHECK(net.lines().of(0).dropped == 1000 - got.size());
}
