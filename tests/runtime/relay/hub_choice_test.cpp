#include "runtime/relay/hub_choice.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using step = hub_choice::step;

constexpr connection_id circuit = connection_id{1} << 63 | 7;
constexpr time_point start{1min};

contact who(std::uint8_t number) {
  contact x;
  x.id.bytes[0] = number;
  x.where = {"198.51.100." + std::to_string(number), 7000};
  return x;
}

/// Peer 1 among its connections.
struct desk {
  hub_choice::choice next(const contact& to, const std::vector<contact>& hubs,
                          time_point now = start) {
    return it.next(to, hubs, {self, guests, links}, now);
  }
  void is_dialled(const contact& x) {
    line_table::link fresh;
    fresh.remote = x.where;
    fresh.dialled = true;
    fresh.expected = x.id;
    links.add(++last, fresh);
  }

  peer_id self = who(1).id;
  guest_lines guests;
  line_table links;
  connection_id last = 100;
  hub_choice it;
};

} // namespace

TEST_CASE("a circuit goes over the newest line to the first hub that has one") {
  desk x;
  x.guests.add(who(8).id, circuit); // Itself through a hub.
  x.guests.add(who(9).id, 4);
  x.guests.add(who(9).id, 6);
  x.guests.add(who(9).id, circuit + 1);
  const auto found = x.next(who(2), {who(7), who(8), who(9)});
  CHECK(found.step == step::open);
  CHECK(found.over == 6);
  CHECK(found.rest == std::vector<contact>{who(7), who(8)});
  CHECK_FALSE(x.it.has(who(2).id));
}

TEST_CASE("without a connected hub one is dialled, and waited for") {
  desk x;
  const auto first = x.next(who(2), {who(9), who(8)});
  CHECK(first.step == step::dial);
  CHECK(first.hub == who(9));
  CHECK(x.it.has(who(2).id));
  // It is on its way: whoever else is behind it waits, too.
  x.is_dialled(who(9));
  CHECK(x.next(who(3), {who(9)}).step == step::wait);
  CHECK(x.it.has(who(3).id));
  CHECK(x.it.end(who(8).id, true).empty()); // Nobody waits for that one.
  CHECK(x.it.has(who(2).id));
  SUBCASE("it cannot be reached") {
    const auto all = x.it.end(who(9).id, false);
    REQUIRE(all.size() == 2);
    CHECK(all[0].who == who(2));
    CHECK(all[0].hubs == std::vector<contact>{who(8)});
    CHECK(all[1].hubs.empty());
  }
  SUBCASE("it is there") {
    const auto all = x.it.end(who(9).id, true);
    REQUIRE(all.size() == 2);
    REQUIRE(all[0].hubs.size() == 2);
    CHECK(all[0].hubs[0].id == who(9).id);
    CHECK(all[0].hubs[1] == who(8));
    CHECK(all[1].hubs.size() == 1);
  }
  CHECK_FALSE(x.it.has(who(2).id));
  CHECK(x.it.end(who(9).id, true).empty());
}

TEST_CASE("a host is dialled for this only now and then") {
  desk x;
  auto elsewhere = who(8);
  elsewhere.where.host = who(9).where.host;
  CHECK(x.next(who(2), {who(9)}).step == step::dial);
  CHECK(x.next(who(3), {elsewhere}).step == step::give_up);
  CHECK(x.next(who(4), {elsewhere, who(7)}).hub == who(7));
  CHECK(x.next(who(3), {elsewhere}, start + limits::reach_pause).step
        == step::dial);
}

TEST_CASE("neither this peer nor who is looked for is a hub to dial") {
  desk x;
  CHECK(x.next(who(2), {who(1), who(2), {who(3).id, {}}}).step
        == step::give_up);
  CHECK(x.next(who(2), {}).step == step::give_up);
  x.is_dialled(who(2)); // A line comes in another way.
  CHECK(x.next(who(2), {}).step == step::wait);
}

TEST_CASE("with too many connections no circuit is opened") {
  desk x;
  x.guests.add(who(9).id, 4);
  for (connection_id i = 0; i < most_connections; ++i)
    x.links.add(1000 + i, {});
  CHECK(x.next(who(2), {who(9)}).step != step::open);
}
