/// Homes of every kind in the simulated network: who can dial whom, and where
/// holes can be punched.

#include <map>

#include <doctest/doctest.h>

#include "tools/lab/network/sim_network.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint16_t port = 7000;
constexpr std::uint16_t hub_port = 443;

struct ear : transport_listener {
  void on_accepted(connection_id id, const address& remote,
                   const peer_id&) override {
    accepted[id] = remote;
  }
  void on_connected(connection_id id, const address& remote,
                    const peer_id&) override {
    connected[id] = remote;
  }
  void on_frame(connection_id, incoming_frame) override {
    ++frames;
  }
  void on_closed(connection_id id, const std::string& why) override {
    closed[id] = why;
  }
  std::map<connection_id, address> accepted, connected;
  std::map<connection_id, std::string> closed;
  int frames = 0;
};

struct machine {
  machine(sim_network& net, const std::string& host, std::uint16_t at)
      : wire{net.make_transport(host)} {
    wire->start(hears);
    REQUIRE(wire->listen({"0.0.0.0", at}));
  }
  bool connected(connection_id id) const {
    return hears->connected.count(id) == 1;
  }
  void send(connection_id id) {
    wire->send(id, {std::vector<std::uint8_t>(10, 1), {}});
  }
  std::shared_ptr<ear> hears = std::make_shared<ear>();
  std::unique_ptr<transport> wire;
};

/// Two hubs that all can dial, and machines in homes.
struct town {
  town() {
    hubs.emplace_back(net, "hub-0", hub_port);
    hubs.emplace_back(net, "hub-1", hub_port);
  }
  machine& add(const std::string& name, router_kind kind,
               const std::string& public_host) {
    access_line line;
    line.delay = 20ms;
    net.set_line(name, line);
    if (kind != router_kind::none)
      net.put_behind(name, kind, public_host);
    return machines.emplace(name, machine{net, name, port}).first->second;
  }
  void pass(duration x) {
    now += x;
    net.run_until(now);
  }
  /// Where a hub sees the port that the machine listens on.
  address seen(machine& x, int hub = 0) {
    auto& all = hubs[static_cast<std::size_t>(hub)].hears->accepted;
    all.clear();
    x.wire->punch({"hub-" + std::to_string(hub), hub_port}, true);
    pass(1s);
    REQUIRE(all.size() == 1);
    return all.begin()->second;
  }
  bool dials(machine& x, const address& to) {
    auto id = x.wire->dial(to);
    pass(11s);
    return x.connected(id);
  }

  duration now{0};
  sim_network net{1};
  std::vector<machine> hubs;
  std::map<std::string, machine> machines;
};

/// 'd': one of them can dial the other; 'p': only a hole connects them; '-':
/// nothing does.
char best_way(router_kind first, router_kind second) {
  char result = '-';
  for (bool first_begins : {true, false}) {
    town x;
    auto& a = x.add("a", first, "A");
    auto& b = x.add("b", second, "B");
    auto at_a = x.seen(a), at_b = x.seen(b);
    auto to_b = a.wire->punch(at_b, first_begins);
    auto to_a = b.wire->punch(at_a, !first_begins);
    x.pass(6s);
    if (a.connected(to_b) || b.connected(to_a))
      result = 'p';
    // Each connection has two ends, each told once.
    CHECK(a.hears->connected.size() + b.hears->connected.size()
              + a.hears->accepted.size() + b.hears->accepted.size()
          == 2 + 2 * (x.net.open_connections() - 2));
  }
  town x;
  auto& a = x.add("a", first, "A");
  auto& b = x.add("b", second, "B");
  auto at_a = x.seen(a), at_b = x.seen(b);
  return x.dials(a, at_b) || x.dials(b, at_a) ? 'd' : result;
}

} // namespace

TEST_CASE("every pair of homes connects as its routers allow") {
  // In the order of `router_kind`; a peer that only reaches port 443 finds
  // others than hubs on none.
  const std::vector<std::string> known{
      "ddddddd-d", // none
      "ddddddd-d", // open-cone
      "ddppppp-p", // address-restricted
      "ddpp-pp-p", // port-restricted
      "ddp-----"
      "-",         // symmetric
      "ddpp-pp-p", // double
      "ddpp-pp-p", // upnp
      "---------", // only-443
      "ddpp-pp-p", // ipv6-only
  };
  const auto& kinds = router_traits();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::string row;
    for (const auto& other : kinds)
      row += best_way(kinds[i].kind, other.kind);
    CHECK_MESSAGE(row == known[i], kinds[i].name);
  }
}

TEST_CASE("what hubs see of a peer shows its router's mapping") {
  for (const auto& kind : router_traits()) {
    CAPTURE(kind.name);
    town x;
    auto& a = x.add("192.168.0.1", kind.kind, "A");
    auto one = x.seen(a, 0), other = x.seen(a, 1);
    CHECK(one.host == (kind.kind == router_kind::none ? "192.168.0.1" : "A"));
    CHECK(other.host == one.host);
    CHECK((one.port == other.port) == (kind.kind != router_kind::symmetric));
    CHECK(a.wire->local_addresses()
          == std::vector<address>{{"192.168.0.1", port}});
    // A dial comes from another port than the one that is listened on.
    x.hubs[0].hears->accepted.clear();
    CHECK(x.dials(a, {"hub-0", hub_port}));
    CHECK(x.hubs[0].hears->accepted.begin()->second.port != one.port);
  }
}

TEST_CASE("a hole needs both, within the time that each tries") {
  town x;
  auto& a = x.add("a", router_kind::port_restricted, "A");
  auto& b = x.add("b", router_kind::port_restricted, "B");
  auto at_a = x.seen(a), at_b = x.seen(b);
  auto alone = a.wire->punch(at_b, true);
  x.pass(6s);
  CHECK(a.hears->closed.at(alone) == "no hole could be punched");
  auto to_b = a.wire->punch(at_b, true);
  x.pass(4s);
  auto to_a = b.wire->punch(at_a, false);
  x.pass(1s);
  CHECK(a.hears->connected.at(to_b) == at_b);
  CHECK(b.hears->connected.at(to_a) == at_a);
  a.send(to_b);
  b.send(to_a);
  x.pass(1s);
  CHECK(a.hears->frames == 1);
  CHECK(b.hears->frames == 1);
  // The same two ends cannot have another connection.
  auto again = b.wire->punch(at_a, false);
  x.pass(1s);
  CHECK(b.hears->closed.at(again) == "this address is connected already");
  b.wire->close(to_a);
  x.pass(1s);
  CHECK(a.hears->closed.count(to_b) == 1);
}

TEST_CASE("of two that punch, exactly one begins the encryption") {
  for (bool begins : {true, false}) {
    town x;
    auto& a = x.add("a", router_kind::port_restricted, "A");
    auto& b = x.add("b", router_kind::port_restricted, "B");
    auto at_a = x.seen(a), at_b = x.seen(b);
    auto to_b = a.wire->punch(at_b, begins);
    auto to_a = b.wire->punch(at_a, begins);
    x.pass(6s);
    CHECK(a.hears->closed.count(to_b) == 1);
    CHECK(b.hears->closed.count(to_a) == 1);
    CHECK(x.net.open_connections() == 2); // With the hub.
  }
}

TEST_CASE("a port that UPnP maps can be dialled; other routers map none") {
  for (const auto& kind : router_traits()) {
    CAPTURE(kind.name);
    town x;
    x.add("a", kind.kind, "A");
    auto& b = x.add("b", router_kind::symmetric, "B");
    auto mapped = x.net.map_port("a", port);
    REQUIRE(mapped.has_value() == (kind.kind == router_kind::upnp));
    if (mapped)
      CHECK(x.dials(b, *mapped));
  }
}

TEST_CASE("two peers of one home share its host, not its ports") {
  town x;
  auto& a = x.add("a", router_kind::port_restricted, "H");
  auto& b = x.add("b", router_kind::port_restricted, "H");
  auto& c = x.add("c", router_kind::none, "");
  auto at_a = x.seen(a), at_b = x.seen(b);
  CHECK(at_a.host == at_b.host);
  CHECK(at_a.port != at_b.port);
  auto to_b = b.wire->punch({"c", port}, true);
  x.pass(1s);
  CHECK(c.hears->accepted.begin()->second == at_b);
  CHECK(b.connected(to_b));
  CHECK(a.hears->accepted.empty());
  CHECK(x.dials(a, {"b", port}));
  CHECK(b.hears->accepted.begin()->second.host == "a"); // By no router.
  CHECK_FALSE(x.dials(a, at_b));                        // No hairpin.
  CHECK_FALSE(x.dials(c, {"b", port}));
}

TEST_CASE("what is silent for longer than two minutes is lost, unannounced") {
  town x;
  auto& a = x.add("a", router_kind::port_restricted, "A");
  auto id = a.wire->dial({"hub-0", hub_port});
  for (int i = 1; i < 5; ++i) {
    x.pass(100s);
    a.send(id);
    x.pass(1s);
    CHECK(x.hubs[0].hears->frames == i);
  }
  x.pass(121s);
  a.send(id);
  x.pass(10s);
  CHECK(x.hubs[0].hears->frames == 4);
  CHECK(a.hears->closed.empty());
}

TEST_CASE("connections die in silence with their router, or their address") {
  for (bool moves : {true, false}) {
    town x;
    auto& a = x.add("a", router_kind::symmetric, "A");
    x.seen(a);
    const auto old = x.hubs[0].hears->accepted.begin()->first;
    moves ? x.net.move_home("a", "B") : x.net.reboot_router("a");
    x.hubs[0].send(old);
    a.send(1);
    x.pass(20s);
    CHECK(x.hubs[0].hears->frames + a.hears->frames == 0);
    CHECK(a.hears->closed.empty());
    CHECK(x.hubs[0].hears->closed.empty());
    REQUIRE(x.dials(a, {"hub-0", hub_port}));
    CHECK(x.hubs[0].hears->accepted.rbegin()->second.host
          == (moves ? "B" : "A"));
  }
}
