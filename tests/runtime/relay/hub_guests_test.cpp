#include "runtime/relay/hub_guests.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};
/// Circuits of the hub: 64 for each home, 128 for each prefix.
constexpr std::size_t most = limits::openers_least * limits::openers_home_part;

peer_id id(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  x.bytes[31] = 1;
  return x;
}

/// Adds both ends of circuits between two peers that the first asks for, under
/// numbers from `first` on.
void connect(hub_guests& all, connection_id from, connection_id to,
             std::size_t circuits, std::uint32_t first = 1) {
  for (auto i = first; i < first + circuits; ++i) {
    all.add({from, i, true}, all.at(from)->who);
    all.add({to, i, false}, all.at(to)->who);
  }
}

void disconnect(hub_guests& all, connection_id from, connection_id to,
                std::uint32_t number) {
  all.remove({from, number, true}, all.at(from)->who);
  all.remove({to, number, false}, all.at(to)->who);
}

} // namespace

TEST_CASE("circuits lead to the newest connection whose hello was welcome") {
  hub_guests all;
  CHECK(all.at(11) == nullptr);
  CHECK_FALSE(all.welcome(11));
  all.met(11, id(1), "192.0.1.1");
  REQUIRE(all.at(11) != nullptr);
  CHECK(all.at(11)->who == id(1));
  CHECK(all.at(11)->host == "192.0.1.1");
  CHECK_FALSE(all.newest_of(id(1)));
  CHECK(all.welcome(11));
  CHECK(all.newest_of(id(1)) == connection_id{11});
  all.met(12, id(1), "192.0.1.1");
  CHECK(all.newest_of(id(1)) == connection_id{11});
  CHECK(all.connections_of(id(1)) == std::set<connection_id>{11, 12});
  all.welcome(12);
  CHECK(all.newest_of(id(1)) == connection_id{12});
  all.gone(12);
  CHECK(all.newest_of(id(1)) == connection_id{11});
  all.gone(11);
  CHECK_FALSE(all.newest_of(id(1)));
  CHECK(all.at(11) == nullptr);
  all.gone(11);
}

TEST_CASE("the first peer at a connection stays there") {
  hub_guests all;
  all.met(11, id(1), "192.0.1.1");
  all.met(11, id(2), "192.0.2.1");
  CHECK(all.at(11)->who == id(1));
  CHECK_FALSE(all.newest_of(id(2)));
}

TEST_CASE("a peer asks for so many circuits at once, and then for few") {
  hub_guests all;
  all.met(11, id(1), "192.0.1.1");
  all.met(12, id(2), "192.0.1.1");
  const auto at_once = static_cast<int>(limits::opens_at_once);
  for (int i = 0; i < at_once; ++i)
    REQUIRE(all.asks(id(1), start));
  CHECK_FALSE(all.asks(id(1), start));
  CHECK(all.asks(id(2), start));
  CHECK(all.asks(id(1), start + 1s));
}

TEST_CASE("no peer has more than its circuits, whoever asked for them") {
  hub_guests all;
  all.met(11, id(1), "192.0.1.1");
  all.met(12, id(2), "192.0.2.1");
  all.met(13, id(3), "192.0.3.1");
  constexpr auto plenty = 100 * limits::circuits_a_peer;
  connect(all, 11, 12, limits::circuits_a_peer - 1);
  CHECK(all.objection(id(3), id(2), plenty).empty());
  connect(all, 11, 12, 1, limits::circuits_a_peer);
  for (auto [from, to] : {std::pair{3, 2}, std::pair{2, 3}})
    CHECK(all.objection(id(static_cast<std::uint8_t>(from)),
                        id(static_cast<std::uint8_t>(to)), plenty)
          == "one of the two peers has too many circuits through this hub");
  disconnect(all, 11, 12, 1);
  CHECK(all.objection(id(3), id(2), plenty).empty());
}

TEST_CASE("a home and a prefix ask for no more than their parts of a hub") {
  hub_guests all;
  all.met(11, id(1), "192.0.1.1");
  all.met(12, id(2), "192.0.1.1"); // The home of the first.
  all.met(13, id(3), "192.0.1.2"); // A neighbour's.
  all.met(14, id(4), "192.0.1.3"); // Another's.
  all.met(15, id(5), "198.51.100.1");
  const std::string enough
      = "your network has asked this hub for as many circuits as it may";
  connect(all, 11, 15, limits::openers_least - 1);
  CHECK(all.objection(id(2), id(5), most).empty());
  connect(all, 11, 15, 1, 1000);
  CHECK(all.objection(id(2), id(5), most) == enough);
  CHECK(all.objection(id(3), id(5), most).empty());
  CHECK(all.objection(id(5), id(1), most).empty()); // It may be asked for.
  connect(all, 13, 15, limits::openers_least, 2000);
  CHECK(all.objection(id(4), id(5), most) == enough);
  CHECK(all.objection(id(4), id(5), 4 * most).empty());
}

TEST_CASE("a prefix has so many ends, where both count that are within it") {
  hub_guests all;
  const auto ends = static_cast<std::uint32_t>(limits::ends_a_prefix);
  constexpr std::size_t plenty = 100 * limits::ends_a_prefix;
  // Each peer asks another one far away for as many as it may have.
  const auto pairs = ends / limits::circuits_a_peer;
  const auto near = [](std::size_t i) { return connection_id{100 + i}; };
  const auto far = [](std::size_t i) { return connection_id{200 + i}; };
  for (std::size_t i = 0; i <= pairs + 1; ++i) {
    all.met(near(i), id(static_cast<std::uint8_t>(i)), "192.0.1.1");
    all.met(far(i), id(static_cast<std::uint8_t>(100 + i)),
            "198.51." + std::to_string(i) + ".1");
  }
  for (std::size_t i = 0; i < pairs; ++i)
    connect(all, near(i), far(i), limits::circuits_a_peer - (i == 0));
  const auto inside = [&](std::size_t i) { return all.at(near(i))->who; };
  const auto outside = all.at(far(pairs))->who;
  CHECK(all.objection(inside(pairs), outside, plenty).empty());
  CHECK(all.objection(inside(pairs), inside(pairs + 1), plenty)
        == "the network of one of the two peers has too many circuits through "
           "this hub");
  disconnect(all, near(1), far(1), 1);
  CHECK(all.objection(inside(pairs), inside(pairs + 1), plenty).empty());
}

TEST_CASE("a circuit gives way that another home asked for, the oldest first") {
  hub_guests all;
  all.met(11, id(1), "192.0.1.1");
  all.met(12, id(2), "192.0.2.1");
  CHECK_FALSE(all.gives_way_to(id(2)));
  connect(all, 11, 12, 2, 7);
  CHECK_FALSE(all.gives_way_to(id(1)));
  const auto other = all.gives_way_to(id(2));
  REQUIRE(other);
  CHECK(other->on == 11);
  CHECK(other->number == 7);
  CHECK(other->opened_there);
}

TEST_CASE("neighbours have a rate of their own each, and one in common") {
  hub_guests all;
  all.met(11, id(1), "192.0.1.1");
  all.met(12, id(2), "192.0.1.2");
  all.met(13, id(3), "192.0.2.1");
  all.rate_of(id(1)).spend(1000);
  all.prefix_rate_of(id(1)).spend(1000);
  CHECK(all.rate_of(id(1)).available(start) == limits::sender_burst - 1000);
  CHECK(all.rate_of(id(2)).available(start) == limits::sender_burst);
  CHECK(all.prefix_rate_of(id(2)).available(start)
        == limits::prefix_burst - 1000);
  CHECK(all.prefix_rate_of(id(3)).available(start) == limits::prefix_burst);
}

TEST_CASE("what a prefix has used stays used when its last guest has left") {
  hub_guests all;
  all.met(11, id(1), "192.0.1.1");
  REQUIRE(all.prefix_rate_of(id(1)).available(start) == limits::prefix_burst);
  all.prefix_rate_of(id(1)).spend(limits::prefix_burst);
  all.gone(11);
  all.met(12, id(2), "192.0.1.2");
  CHECK(all.prefix_rate_of(id(2)).available(start) == 0);
  CHECK(all.prefix_rate_of(id(2)).available(start + 1s) == limits::prefix_rate);
}

TEST_CASE("of prefixes without guests the one left first is forgotten") {
  hub_guests all;
  const auto others_pass = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      all.met(100, id(100),
              "10." + std::to_string(i / 256) + "." + std::to_string(i % 256)
                  + ".1");
      all.gone(100);
    }
  };
  const auto left_to = [&](std::uint8_t who) {
    return all.prefix_rate_of(id(who)).available(start);
  };
  all.met(11, id(1), "192.0.1.1");
  all.met(12, id(2), "192.0.2.1");
  all.prefix_rate_of(id(1)).spend(1000);
  all.prefix_rate_of(id(2)).spend(1000);
  all.gone(11);
  others_pass(limits::prefixes_left - 1);
  all.met(11, id(1), "192.0.1.1");
  CHECK(left_to(1) == limits::prefix_burst - 1000);
  all.gone(11);
  others_pass(limits::prefixes_left);
  all.met(11, id(1), "192.0.1.1");
  CHECK(left_to(1) == limits::prefix_burst);
  CHECK(left_to(2) == limits::prefix_burst - 1000); // It has a guest.
}
