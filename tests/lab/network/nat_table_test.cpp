#include "tools/lab/network/nat_table.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using d = nat_table::dependence;
using found = std::optional<address>;

const address inside{"192.168.0.2", 7000};
const address one{"203.0.113.1", 80};
const address same_host{"203.0.113.1", 81};
const address other{"203.0.113.2", 80};
constexpr duration idle = 120s;

nat_table table(d mapping, d filtering) {
  return nat_table{{mapping, filtering}, idle};
}

} // namespace

TEST_CASE("endpoint-independent mapping shows all destinations one port") {
  auto x = table(d::none, d::address_and_port);
  CHECK(x.open(0s, inside, one) == 7000); // Preserved.
  CHECK(x.open(0s, inside, same_host) == 7000);
  CHECK(x.open(0s, inside, other) == 7000);
  CHECK(x.mappings() == 1);
}

TEST_CASE("mapping that depends on the destination shows each another port") {
  auto by_host = table(d::address, d::address);
  auto port = by_host.open(0s, inside, one);
  CHECK(port != 7000);
  CHECK(by_host.open(0s, inside, same_host) == port);
  CHECK(by_host.open(0s, inside, other) != port);

  auto symmetric = table(d::address_and_port, d::address_and_port);
  port = symmetric.open(0s, inside, one);
  CHECK(symmetric.open(0s, inside, same_host) != port);
  CHECK(symmetric.open(0s, inside, other) != port);
  CHECK(symmetric.open(0s, inside, one) == port);
  CHECK(symmetric.mappings() == 3);
}

TEST_CASE("filtering lets in everybody, hosts, or hosts and ports dialled") {
  for (auto how : {d::none, d::address, d::address_and_port}) {
    auto x = table(d::none, how);
    CHECK_FALSE(x.admit(0s, 7000, one)); // Nothing is mapped yet.
    x.open(0s, inside, one);
    CHECK(x.admit(1s, 7000, one) == found{inside});
    CHECK(x.admit(1s, 7000, same_host).has_value()
          == (how != d::address_and_port));
    CHECK(x.admit(1s, 7000, other).has_value() == (how == d::none));
    CHECK_FALSE(x.admit(1s, 7001, one));
  }
}

TEST_CASE("who dials a symmetric router's port was not dialled from it") {
  auto x = table(d::address_and_port, d::address_and_port);
  auto port = *x.open(0s, inside, one);
  CHECK_FALSE(x.admit(0s, port, other));
  x.open(0s, inside, other);
  CHECK_FALSE(x.admit(0s, port, other));
}

TEST_CASE("two hosts with one port do not share a mapping") {
  auto x = table(d::none, d::none);
  const address beside{"192.168.0.3", 7000};
  CHECK(x.open(0s, inside, one) == 7000);
  auto port = x.open(0s, beside, one);
  REQUIRE(port);
  CHECK(port != 7000);
  CHECK(x.admit(0s, 7000, other) == found{inside});
  CHECK(x.admit(0s, *port, other) == found{beside});
}

TEST_CASE("only a known session carries, and its use keeps it up") {
  auto x = table(d::none, d::none);
  x.open(0s, inside, one);
  CHECK_FALSE(x.carry(0s, 7000, other));
  CHECK(x.carry(100s, 7000, one) == found{inside});
  CHECK(x.carry(220s, 7000, one) == found{inside});
  CHECK_FALSE(x.carry(220s + idle + 1ns, 7000, one));
}

TEST_CASE("what was idle for too long neither admits nor keeps its port") {
  auto x = table(d::none, d::none);
  x.open(0s, inside, one);
  CHECK(x.admit(idle, 7000, other));
  CHECK_FALSE(x.admit(3 * idle, 7000, other));
  CHECK(x.open(3 * idle, {"192.168.0.3", 7000}, one) == 7000);
  CHECK(x.mappings() == 1);

  // A session that is idle permits nothing, though its mapping is in use.
  auto y = table(d::none, d::address);
  y.open(0s, inside, one);
  y.open(idle, inside, other);
  CHECK_FALSE(y.admit(idle + 1s, 7000, one));
  CHECK(y.admit(idle + 1s, 7000, other));
}

TEST_CASE("a mapped port lasts and lets everybody in") {
  auto x = table(d::none, d::address_and_port);
  CHECK(x.map_port(0s, inside) == 7000);
  CHECK(x.admit(10 * idle, 7000, other) == found{inside});
  CHECK(x.open(10 * idle, inside, one) == 7000);
}

TEST_CASE("a router that reboots knows nobody") {
  auto x = table(d::none, d::none);
  x.open(0s, inside, one);
  x.forget();
  CHECK_FALSE(x.carry(0s, 7000, one));
  CHECK_FALSE(x.admit(0s, 7000, one));
  CHECK(x.mappings() == 0);
  CHECK(x.open(0s, inside, one) == 7000);
}

TEST_CASE("a router without a free port lets nobody more out") {
  auto x = table(d::address_and_port, d::none);
  std::size_t count = 0;
  while (x.open(0s, inside, {"203.0.113.1", static_cast<std::uint16_t>(count)})
         && count < 65535)
    ++count;
  CHECK(count == 65536 - 10000);
  CHECK(x.open(3 * idle, inside, other));
}
