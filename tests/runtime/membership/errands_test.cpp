/// Nobody makes a peer dial a stranger's address for nothing.
#include "runtime/membership/errands.hpp"

#include <set>

#include <doctest/doctest.h>

#include "runtime/membership/reachability.hpp"

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

contact somebody(std::uint8_t number, const std::string& host) {
  return {id(number), {host, 7000}};
}

const contact asker = somebody(2, "203.0.113.2");
const std::string own = "203.0.113.1";

guest_book guests(const std::vector<contact>& all) {
  guest_book x{id(1), role::trainer};
  x.joined(asker, role::trainer, at(0s));
  for (auto& who : all)
    x.joined(who, role::trainer, at(0s));
  return x;
}

} // namespace

TEST_CASE("nobody makes a peer knock at one host all the time, or at many") {
  knock_limit x;
  CHECK(x.spend("a", at(0s)));
  CHECK_FALSE(x.spend("a", at(1s)));
  CHECK(x.spend("a", at(limits::reach_pause)));
  for (std::size_t i = 1; i < limits::reach_tries; ++i)
    CHECK(x.spend(std::to_string(i), at(limits::reach_pause)));
  CHECK_FALSE(x.spend("one too many", at(limits::reach_pause)));
}

TEST_CASE("who asks is dialled at its own host only") {
  errands x{id(1), 7};
  auto whom = x.dials(asker, 4000, at(0s));
  REQUIRE(whom);
  CHECK(whom->id == asker.id);
  CHECK(whom->where == address{asker.where.host, 4000});
  CHECK_FALSE(x.dials(asker, 4001, at(1s)));
}

TEST_CASE("a guest is sent whose host neither of the two has") {
  errands x{id(1), 7};
  auto all = guests({somebody(3, asker.where.host),
                     somebody(4, own),
                     somebody(5, "10.0.0.5"),
                     somebody(6, "198.51.100.6"),
                     somebody(7, "198.51.100.7"),
                     {id(8), {"198.51.100.8", 0}}}); // It listens nowhere.
  std::set<peer_id> sent;
  for (std::uint64_t n = 1; n <= 20; ++n) {
    auto third = x.send(asker, n, own, all, at(0s));
    REQUIRE(third);
    sent.insert(*third);
  }
  CHECK(sent == std::set<peer_id>{id(6), id(7)});
  CHECK(x.send(asker, 21, own, guests({{id(8), {"198.51.100.8", 0}}}), at(0s))
        == id(8));
  // There may be nobody, and in a house anybody may go.
  CHECK_FALSE(x.send(asker, 1, own, guests({somebody(5, "10.0.0.5")}), at(0s)));
  CHECK_FALSE(x.send(somebody(2, "10.0.0.2"), 1, own, all, at(0s)));
}

TEST_CASE("the answer of a guest that was sent is the asker's, once") {
  errands x{id(1), 7};
  auto all = guests({somebody(6, "198.51.100.6")});
  CHECK(x.send(asker, 31, own, all, at(0s)) == id(6));
  CHECK_FALSE(x.answered(id(6), 32));
  CHECK_FALSE(x.answered(id(2), 31));
  CHECK(x.answered(id(6), 31) == asker.id);
  CHECK_FALSE(x.answered(id(6), 31));
}

TEST_CASE("guests that keep silent do not use a peer up") {
  errands x{id(1), 7};
  auto all = guests({somebody(6, "198.51.100.6")});
  for (std::uint64_t n = 0; n < limits::errands_under_way; ++n)
    CHECK(x.send(asker, n, own, all, at(0s)));
  CHECK_FALSE(x.send(asker, 99, own, all, at(1s)));
  CHECK(x.send(asker, 99, own, all, at(duration{reachability::patience})));
}

TEST_CASE("an attacker cannot aim a peer at whatever it likes") {
  errands x{id(1), 7};
  auto aim = [&](const std::string& host, duration when) {
    return x.goes({1, somebody(66, host)}, at(when));
  };
  // At machines that only this peer's house or its provider knows, or names
  // that might stand for them.
  for (auto host :
       {"127.0.0.1", "10.0.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "::1", "fe80::1", "fd00::1", "::ffff:192.168.0.1",
        "2002:c0a8:1::1", "router.home", "224.0.0.1", "255.255.255.255"}) {
    CAPTURE(host);
    CHECK_FALSE(aim(host, 0s));
  }
  // At itself.
  CHECK_FALSE(x.goes({1, somebody(1, "203.0.113.66")}, at(0s)));
  // Again and again at one host, even by many; nor at many.
  CHECK(aim("203.0.113.66", 0s));
  for (int i = 1; i < 60; ++i)
    CHECK_FALSE(aim("203.0.113.66", i * 1s));
  CHECK(aim("203.0.113.66", 60s));
  std::size_t dials = 0;
  for (int i = 0; i < 200; ++i)
    dials += aim("198.51.100." + std::to_string(i), 61s);
  CHECK(dials == limits::errand_tries - 1);
}
