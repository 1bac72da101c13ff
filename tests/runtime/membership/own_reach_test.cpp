/// Whether a peer can be dialled, as it finds out: whom it asks, what a proof
/// is worth, and what it makes of those that lie.
#include "runtime/membership/own_reach.hpp"

#include <set>

#include <doctest/doctest.h>

#include "runtime/membership/dialled_hosts.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id id(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

time_point at(duration since) {
  return time_point{1h + since};
}

const std::string house = "10.0.0.";
const std::string internet = "198.51.";

/// A host of that network; on the internet, of a customer of its own.
std::string host_in(const std::string& network, int number) {
  return network + std::to_string(number) + (network == internet ? ".7" : "");
}

guest_book guests(std::uint8_t count, const std::string& network,
                  std::uint8_t first = 10) {
  guest_book x{id(1), role::trainer};
  for (std::uint8_t i = 0; i < count; ++i)
    x.joined({id(first + i), {host_in(network, first + i), 7000}},
             role::trainer, at(0s));
  return x;
}

const address outside{"203.0.113.1", 7000};

/// A peer on the internet that asks.
struct peer {
  std::optional<own_reach::question> ask(const guest_book& some,
                                         duration when) {
    return x.ask(outside, mapped, true, false, some, at(when));
  }
  /// Everybody that is asked says that it could not.
  void cannot(const guest_book& some, int most = 3) {
    for (int i = 0; i < most; ++i)
      if (auto q = ask(some, i * 1s))
        x.answered(q->whom, {false, q->text.nonce}, at(i * 1s));
    ask(some, 5s);
    x.changes();
  }
  own_reach x{role::trainer, 7};
  bool mapped = false;
};

} // namespace

TEST_CASE(
    "a trainer asks whether it can be dialled once its cell has decided") {
  own_reach x{role::trainer, 7};
  auto some = guests(3, house);
  const address here{"10.0.0.1", 7000};
  CHECK_FALSE(x.ask(here, false, false, false, some, at(0s)));
  std::set<peer_id> asked;
  std::set<std::uint64_t> nonces;
  for (int i = 0; i < 3; ++i) {
    auto q = x.ask(here, false, true, false, some, at(i * 1s));
    REQUIRE(q);
    CHECK(q->text.port == 7000);
    CHECK_FALSE(q->text.elsewhere); // Within one network a dial says enough.
    asked.insert(q->whom);
    nonces.insert(q->text.nonce);
    CHECK(x.reachable());
    CHECK(x.answered(q->whom, {false, q->text.nonce}, at(i * 1s)));
  }
  CHECK(asked.size() == 3);
  CHECK(nonces.size() == 3);
  CHECK(x.changes());
  CHECK_FALSE(x.changes());
  CHECK_FALSE(x.reachable());
  CHECK(x.kind() == reach::unknown);
  CHECK(x.sentence(here).find("set announce") != std::string::npos);
  // At another address all is asked anew.
  CHECK(x.ask({"10.0.0.9", 7000}, false, true, false, some, at(4s)));
}

TEST_CASE("within one network a connection is proof enough") {
  own_reach x{role::trainer, 7};
  auto some = guests(3, house);
  const address here{"10.0.0.1", 7000};
  auto q = x.ask(here, false, true, false, some, at(0s));
  REQUIRE(q);
  x.proven(q->text.nonce, "10.0.0.10", false, at(1s));
  CHECK(x.changes());
  CHECK(x.kind() == reach::open);
  CHECK_FALSE(x.ask(here, false, true, false, some, at(2s)));
}

TEST_CASE("on the internet a third peer is sent, and its connection decides") {
  peer p;
  auto some = guests(3, internet);
  auto q = p.ask(some, 0s);
  REQUIRE(q);
  CHECK(q->text.elsewhere);
  SUBCASE("from a host that was never dialled") {
    p.x.proven(q->text.nonce, "192.0.2.9", true, at(1s));
    CHECK(p.x.changes());
    CHECK(p.x.kind() == reach::open);
    CHECK_FALSE(p.ask(some, 2s));
    // Nobody talks it out of that.
    p.x.answered(q->whom, {false, q->text.nonce}, at(2s));
    CHECK_FALSE(p.x.changes());
  }
  SUBCASE("after some could not") {
    p.x.answered(q->whom, {false, q->text.nonce}, at(1s));
    q = p.ask(some, 2s);
    p.x.answered(q->whom, {false, q->text.nonce}, at(3s));
    q = p.ask(some, 4s);
    p.x.proven(q->text.nonce, "192.0.2.9", true, at(5s));
    p.x.changes();
    CHECK(p.x.kind() == reach::open);
  }
  SUBCASE("where the router opened the port") {
    p.mapped = true;
    q = p.ask(some, 0s);
    REQUIRE(q);
    p.x.proven(q->text.nonce, "192.0.2.9", true, at(1s));
    p.x.changes();
    CHECK(p.x.kind() == reach::mapped);
  }
  SUBCASE("from one that the router lets in anyway") {
    p.x.proven(q->text.nonce, host_in(internet, 10), false, at(1s));
    p.x.changes();
    CHECK(p.x.reachable());
    CHECK(p.x.kind() == reach::unknown); // Who knows of the others?
    CHECK(p.ask(some, 2s));
  }
  SUBCASE("not from the own house") {
    p.x.proven(q->text.nonce, "10.0.0.9", true, at(1s));
    CHECK_FALSE(p.x.changes());
  }
  SUBCASE("nor from somebody that made a number up") {
    p.x.proven(q->text.nonce + 2, "192.0.2.9", true, at(1s));
    CHECK_FALSE(p.x.changes());
  }
}

TEST_CASE("a router that opens the port where nobody got through has it tried "
          "anew") {
  peer some;
  const auto others = guests(3, internet);
  some.cannot(others);
  CHECK_FALSE(some.x.reachable());
  CHECK_FALSE(some.ask(others, 6s));
  some.mapped = true;
  const auto q = some.ask(others, 7s);
  REQUIRE(q);
  some.x.proven(q->text.nonce, host_in(internet, 99), true, at(8s));
  CHECK(some.x.changes());
  CHECK(some.x.kind() == reach::mapped);
}

TEST_CASE("that it was reached a peer believes nobody") {
  peer p;
  auto some = guests(5, internet);
  for (int i = 0; i < 5; ++i) {
    auto q = p.ask(some, i * 1s);
    REQUIRE(q);
    p.x.answered(q->whom, {true, q->text.nonce}, at(i * 1s));
    CHECK_FALSE(p.x.changes());
  }
  CHECK(p.x.kind() == reach::unknown);
  // Those are all: no more of them can make it believe anything.
  CHECK_FALSE(p.ask(some, 6s));
}

TEST_CASE("who dials a peer from afar shows that it can be dialled") {
  peer p;
  auto some = guests(3, internet);
  SUBCASE("from afar") {
    p.x.came({id(9), {"192.0.2.9", 7000}}, outside.host, at(0s));
    CHECK(p.x.changes());
    CHECK(p.x.kind() == reach::open);
    CHECK_FALSE(p.ask(some, 1s));
  }
  SUBCASE("from the house") {
    p.x.came({id(9), {"10.0.0.9", 7000}}, outside.host, at(0s));
    CHECK_FALSE(p.x.changes());
    CHECK(p.ask(some, 1s));
  }
}

TEST_CASE("a network has one vote, and another version of IP none") {
  peer p;
  guest_book some{id(1), role::trainer};
  for (std::uint8_t i = 10; i < 20; ++i)
    some.joined({id(i), {"198.51.100." + std::to_string(i), 7000}},
                role::trainer, at(0s));
  some.joined({id(30), {"2001:db8:1::1", 7000}}, role::trainer, at(0s));
  auto q = p.ask(some, 0s);
  REQUIRE(q);
  CHECK(q->whom != id(30));
  p.x.answered(q->whom, {false, q->text.nonce}, at(1s));
  CHECK_FALSE(p.ask(some, 2s));
  p.x.came({id(30), {"2001:db8:1::1", 7000}}, outside.host, at(3s));
  p.x.proven(q->text.nonce, "2001:db8:1::1", true, at(3s));
  p.x.changes();
  CHECK_FALSE(p.x.reachable());
}

TEST_CASE("those of the own house are not asked what the internet sees") {
  peer p;
  CHECK_FALSE(p.ask(guests(3, house), 0s));
}

TEST_CASE("a host that was dialled proves nothing for some hours") {
  dialled_hosts x;
  CHECK(x.proves_something("192.0.2.9", at(0s)));
  x.note("192.0.2.9", at(0s));
  CHECK_FALSE(x.proves_something("192.0.2.9", at(1s)));
  CHECK(x.proves_something("192.0.2.9", at(dialled_hosts::memory)));
  x.note("10.0.0.9", at(0s));
  CHECK(x.proves_something("10.0.0.9", at(1s))); // No router is between.
  for (std::size_t i = 0; i < dialled_hosts::most; ++i)
    x.note("198.51." + std::to_string(i / 200) + "." + std::to_string(i % 200),
           at(0s));
  CHECK_FALSE(x.proves_something("192.0.2.77", at(1s))); // It may have been.
  x.note("192.0.2.78", at(dialled_hosts::memory + 1s));
  CHECK(x.proves_something("192.0.2.77", at(dialled_hosts::memory + 1s)));
}

TEST_CASE("two that see one port the same tell the kind of a router") {
  peer p;
  auto some = guests(4, internet);
  CHECK_FALSE(p.x.ask_for_port(some, at(0s))); // It is seen nowhere yet.
  SUBCASE("none, where somebody proves that it can be dialled") {
    auto asked = p.ask(some, 0s);
    REQUIRE(asked);
    p.x.proven(asked->text.nonce, host_in(internet, 99), true, at(0s));
    CHECK_FALSE(p.x.ask_for_port(some, at(0s)));
    return;
  }
  p.cannot(some);
  REQUIRE_FALSE(p.x.reachable());
  auto first = p.x.ask_for_port(some, at(6s));
  REQUIRE(first);
  CHECK_FALSE(p.x.ask_for_port(some, at(7s)));
  p.x.port_seen({"203.0.113.1", 40001}, first->where.host);
  CHECK_FALSE(p.x.changes());
  CHECK_FALSE(p.x.outside()); // It is to be tried all the same.
  CHECK(p.x.perhaps_outside() == std::vector<address>{{"203.0.113.1", 40001}});
  auto second = p.x.ask_for_port(some, at(17s));
  REQUIRE(second);
  CHECK(second->where.host != first->where.host);
  SUBCASE("a cone") {
    p.x.port_seen({"203.0.113.1", 40001}, second->where.host);
    CHECK(p.x.changes());
    CHECK(p.x.kind() == reach::cone);
    CHECK(p.x.outside() == address{"203.0.113.1", 40001});
    CHECK_FALSE(p.x.ask_for_port(some, at(60s)));
  }
  SUBCASE("symmetric") {
    p.x.port_seen({"203.0.113.1", 40002}, second->where.host);
    CHECK(p.x.changes());
    CHECK(p.x.kind() == reach::symmetric);
    CHECK_FALSE(p.x.outside());
    CHECK(p.x.perhaps_outside().size() == 2);
    // One of them may lie: a third one tells.
    auto third = p.x.ask_for_port(some, at(30s));
    REQUIRE(third);
    SUBCASE("the truth") {
      p.x.port_seen({"203.0.113.1", 40001}, third->where.host);
      p.x.changes();
      CHECK(p.x.kind() == reach::cone);
    }
    SUBCASE("nothing new") {
      p.x.port_seen({"203.0.113.1", 40003}, third->where.host);
      p.x.changes();
      CHECK(p.x.kind() == reach::symmetric);
      CHECK_FALSE(p.x.ask_for_port(some, at(60s)));
    }
  }
  SUBCASE("one host has one word") {
    p.x.port_seen({"203.0.113.1", 40001}, first->where.host);
    CHECK_FALSE(p.x.changes());
  }
}
