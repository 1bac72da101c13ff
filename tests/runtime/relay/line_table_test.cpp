#include "runtime/relay/line_table.hpp"

#include <doctest/doctest.h>

#include "runtime/relay/guest_lines.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr connection_id circuit = connection_id{1} << 63 | 7;
const time_point start{1min};

peer_id peer(std::uint8_t number) {
  peer_id result;
  result.bytes[0] = number;
  return result;
}

line_table::link dialled(std::uint8_t number) {
  line_table::link result;
  result.remote = {"198.51.100.1", number};
  result.dialled = true;
  result.expected = peer(number);
  result.since = start;
  return result;
}

} // namespace

TEST_CASE("a connection is a stranger's until its hello was welcome") {
  line_table x;
  x.add(1, dialled(5));
  x.add(2, {});
  CHECK(x.strangers() == std::set<connection_id>{1, 2});
  CHECK(x.is_on_its_way(peer(5)));
  CHECK_FALSE(x.is_on_its_way(peer(6)));
  CHECK_FALSE(x.is_on_its_way(peer_id{}));
  x.welcome(1, peer(5), start + 1s);
  CHECK(x.strangers() == std::set<connection_id>{2});
  CHECK_FALSE(x.is_on_its_way(peer(5)));
  REQUIRE(x.find(1));
  CHECK(x.find(1)->peer == peer(5));
  CHECK(x.take(1));
  CHECK_FALSE(x.take(1));
  CHECK_FALSE(x.find(1));
  CHECK(x.take(2));
  CHECK(x.strangers().empty());
  CHECK(x.size() == 0);
}

TEST_CASE("who is only looked for, or through a hole, is not on its way") {
  line_table x;
  auto reached = dialled(5);
  reached.reached = false;
  auto port = dialled(5);
  port.asks_for_port = true;
  auto hole = dialled(5);
  hole.punched = true;
  x.add(1, reached);
  x.add(2, port);
  x.add(3, hole);
  CHECK_FALSE(x.is_on_its_way(peer(5)));
}

TEST_CASE("a dial that takes long has hubs and another address beside it") {
  line_table x;
  auto slow = dialled(5);
  slow.hubs = {{peer(9), {"198.51.100.9", 9}}};
  slow.also = {"2001:db8::1", 5};
  x.add(1, slow);
  x.add(circuit, slow);
  const auto late = start + limits::circuit_head_start;
  const guest_lines nobody;
  guest_lines it;
  it.add(peer(5), 3);
  CHECK(x.hurry(nobody, late - 1ms).detours.empty());
  CHECK(x.hurry(it, late).others.empty());
  const auto first = x.hurry(nobody, late);
  REQUIRE(first.detours.size() == 1);
  CHECK(first.detours[0].who.id == peer(5));
  CHECK(first.detours[0].hubs.size() == 1);
  CHECK(first.others == std::vector<connection_id>{1});
  CHECK(x.at(1).hubs_tried);
  CHECK(x.hurry(nobody, late).detours.empty()); // Once.
}

TEST_CASE("who says no hello is overdue, sooner where others are quick") {
  line_table x;
  x.add(1, dialled(5));
  CHECK(x.overdue(start + limits::handshake_patience).empty());
  CHECK(x.overdue(start + limits::handshake_patience + 1ms)
        == std::vector<connection_id>{1});
  CHECK(x.at(1).late);
  for (connection_id id = 10; id < 30; ++id) {
    x.add(id, dialled(6));
    x.welcome(id, peer(6), start + 100ms);
  }
  x.add(2, dialled(7));
  CHECK(x.overdue(start + limits::handshake_floor + 1s)
        == std::vector<connection_id>{1, 2});
}

TEST_CASE("a connection that opens is due a hello if it is who was dialled") {
  using opening = line_table::opening;
  line_table x;
  const address far{"203.0.113.5", 5};
  const auto opens = [&](connection_id id, const peer_id& proven) {
    return x.opened(id, far, proven, peer(1), start + 1s);
  };
  CHECK(opens(1, peer(5)) == opening::unknown);
  x.add(1, dialled(5));
  CHECK(opens(1, peer(5)) == opening::greeted);
  CHECK(x.at(1).proven == peer(5));
  CHECK(x.at(1).since == start + 1s);
  CHECK(x.at(1).hub_sees.empty());
  CHECK(opens(1, peer_id{}) == opening::greeted); // Nothing is encrypted.
  CHECK(opens(1, peer(1)) == opening::greeted);   // What it says is refused.
  CHECK(opens(1, peer(6)) == opening::missed);
  auto anybody = dialled(5);
  anybody.expected = {};
  x.add(2, anybody);
  CHECK(opens(2, peer(6)) == opening::greeted);
  x.add(circuit, dialled(5));
  CHECK(opens(circuit, peer(5)) == opening::greeted);
  CHECK(x.at(circuit).hub_sees == far.host);
}

TEST_CASE("whether a peer was looked for or its port, no hello is due") {
  using opening = line_table::opening;
  line_table x;
  auto looks = dialled(5);
  looks.reached = false;
  auto port = dialled(5);
  port.asks_for_port = true;
  x.add(1, looks);
  x.add(2, port);
  const auto opens = [&](connection_id id, const peer_id& proven) {
    return x.opened(id, {}, proven, peer(1), start);
  };
  CHECK(opens(1, peer(6)) == opening::unseen);
  CHECK(x.at(1).reached == false);
  CHECK(opens(1, peer(5)) == opening::seen);
  CHECK(x.at(1).reached == true);
  CHECK(opens(1, peer_id{}) == opening::seen);
  CHECK(opens(2, peer(6)) == opening::listened);
}

TEST_CASE("a guest has its connections until it has parted") {
  guest_lines x;
  x.add(peer(5), circuit);
  CHECK(x.has(peer(5)));
  CHECK(x.only_circuits_to(peer(5)));
  CHECK_FALSE(x.only_circuits_to(peer(6)));
  x.add(peer(5), 1);
  CHECK_FALSE(x.only_circuits_to(peer(5)));
  x.closed(peer(5), 1);
  x.closed(peer(6), 1);
  CHECK(x.of(peer(5)) == std::set<connection_id>{circuit});
  x.closed(peer(5), circuit);
  CHECK(x.has(peer(5))); // Between two lines.
  CHECK_FALSE(x.only_circuits_to(peer(5)));
  CHECK(x.parted(peer(5)).empty());
  CHECK_FALSE(x.has(peer(5)));
  CHECK(x.parted(peer(5)).empty());
}
