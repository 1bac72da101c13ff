/// Who is connected, whom to dial, and when to give up on the user's addresses.
#include "runtime/membership/dial_choice.hpp"

#include <doctest/doctest.h>

#include "runtime/membership/first_contact.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/membership/line_way.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id id(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

address place(std::uint8_t number) {
  return {"10.0.0." + std::to_string(number), 7000};
}

time_point at(duration since) {
  return time_point{since};
}

progress_report report(std::uint8_t number, bool contributes = false,
                       phase p = phase::accumulating) {
  progress_report x;
  x.id = id(number);
  x.where = place(number);
  x.phase = p;
  x.contributes = contributes;
  return x;
}

struct neighbourhood {
  void hear(const progress_report& x) {
    ledger.report(x, at(0s));
  }
  void meet(std::uint8_t number, role r = role::trainer) {
    ledger.connected({id(number), place(number)}, at(0s));
    guests.joined({id(number), place(number)}, r, at(0s));
  }
  dial_choice::scene scene() const {
    return {ledger, guests, mine, true, sure};
  }
  bool wants(std::uint8_t number) const {
    return choice.wants(id(number), scene());
  }

  peer_ledger ledger{id(1), 7};
  guest_book guests{id(1), role::trainer};
  progress_report mine = report(1);
  dial_choice choice;
  bool sure = true; ///< That it can be dialled.
};

} // namespace

TEST_CASE("a line is made by the side that can be dialled, or by none") {
  const address hidden{"10.0.0.2", 0};
  for (bool hubs : {false, true}) {
    CHECK(way_to(place(2), true, hubs) == line_way::we_dial);
    CHECK(way_to(place(2), false, hubs) == line_way::we_dial);
    CHECK(way_to({}, false, hubs) == line_way::we_dial); // It has not said.
  }
  for (bool reachable : {false, true}) // A hub tells it to dial us.
    CHECK(way_to(hidden, reachable, true) == line_way::through_hub);
  CHECK(way_to(hidden, true, false) == line_way::it_dials);
  CHECK(way_to(hidden, false, false) == line_way::none);
}

TEST_CASE("hubs of the own house are nobody's word to dial, but in a house") {
  neighbourhood x;
  x.meet(7, role::bootstrap);
  auto said = report(2);
  const contact outside{id(8), {"203.0.113.8", 7000}};
  said.hubs = {{id(7), place(7)}, outside, {id(9), {"192.168.0.1", 80}}};
  const std::vector<contact> safe{said.hubs[0], outside};
  CHECK(dial_choice::hubs(said, "203.0.113.1", x.guests) == safe);
  CHECK(dial_choice::hubs(said, "10.0.0.1", x.guests) == said.hubs);
}

TEST_CASE("where a peer names no hub that leads to it, the own ones may") {
  neighbourhood x;
  x.meet(7, role::bootstrap);
  x.guests.line({id(7), place(7)}, false, true);
  auto said = report(2);
  const contact own{id(7), place(7)};
  CHECK(dial_choice::hubs(said, "203.0.113.1", x.guests)
        == std::vector<contact>{own});
  said.hubs = {{id(8), {"203.0.113.8", 7000}}};
  CHECK(dial_choice::hubs(said, "203.0.113.1", x.guests)
        == std::vector<contact>{said.hubs[0], own});
  CHECK(dial_choice::hubs(report(7), "203.0.113.1", x.guests).empty());
}

TEST_CASE("before its cell has decided, a peer dials a few trainers") {
  neighbourhood x;
  for (std::uint8_t i = 2; i < 2 + limits::trainers_asked; ++i) {
    x.hear(report(i));
    CHECK(x.wants(i));
    x.meet(i);
  }
  auto other = report(50);
  x.hear(other);
  CHECK_FALSE(x.wants(50));
  other.charter = digest_of("c", 1);
  x.hear(other);
  CHECK(x.wants(50)); // It may know the charter, which nobody here does.
}

TEST_CASE(
    "whom the cell wants is dialled, but for those that cannot be or need "
    "not") {
  neighbourhood x;
  x.hear(report(2));
  x.hear(report(3, true));
  auto hidden = report(4);
  hidden.where.port = 0;
  x.meet(4);
  x.hear(hidden);
  x.hear(report(5, false, phase::joining));
  CHECK(x.choice.want({true, false, {}, {}}, x.mine));
  CHECK(x.wants(2));
  CHECK_FALSE(x.wants(3)); // It says itself whom it needs.
  CHECK_FALSE(x.wants(4));
  CHECK_FALSE(x.wants(5));
  CHECK_FALSE(x.choice.want({true, true, {}, {}}, x.mine));
  CHECK(x.wants(5));
}

TEST_CASE("a contributor that has its connections parts with the others") {
  neighbourhood x;
  x.mine = report(1, true);
  x.mine.sponsor = id(2);
  x.choice.want({false, false, {id(2), id(3)}, {id(4)}}, x.mine);
  for (std::uint8_t i : {2, 4, 5})
    x.meet(i);
  x.meet(6, role::bootstrap);
  const auto later = at(limits::surplus_age + 1ms);
  CHECK_FALSE(x.choice.settled(x.scene()));
  CHECK(x.choice.surplus(x.scene(), later) == std::vector<peer_id>{id(5)});
  x.meet(3);
  CHECK(x.choice.settled(x.scene()));
  CHECK(x.choice.surplus(x.scene(), later + limits::tidying_interval)
        == std::vector<peer_id>{id(5), id(6)});
  CHECK(x.choice.keeps(id(4), x.mine));
  CHECK_FALSE(x.choice.keeps(id(5), x.mine));
  CHECK_FALSE(x.wants(0)); // No seed either: its sponsor is here.
  CHECK(x.choice.due(x.ledger, x.scene(), later).empty());
}

TEST_CASE(
    "whether it can be dialled or not: until it is sure it keeps its hub") {
  neighbourhood x;
  x.mine = report(1, true);
  x.mine.sponsor = id(2);
  x.choice.want({false, false, {id(2), id(3)}, {}}, x.mine);
  x.meet(2);
  x.meet(3);
  const auto later = at(limits::surplus_age + 1ms);
  x.sure = false;
  x.meet(6, role::bootstrap);
  x.guests.line({id(6), place(6)}, false, true);
  CHECK(x.choice.settled(x.scene()));
  CHECK(x.choice.surplus(x.scene(), later).empty());
  x.sure = true;
  CHECK(x.choice.surplus(x.scene(), later + limits::tidying_interval)
        == std::vector<peer_id>{id(6)});
}

TEST_CASE("a newcomer is a node of the DHT once it averages") {
  guest_book x{id(1), role::trainer};
  CHECK(x.joined({id(2), place(2)}, role::bootstrap, at(0s)).routes);
  CHECK_FALSE(x.joined({id(3), place(3)}, role::trainer, at(0s)).routes);
  using change = guest_book::change;
  x.newcomers_route(false);
  CHECK(x.heard(report(3, false, phase::joining)) == change::none);
  CHECK(x.heard(report(3)) == change::routes);
  CHECK(x.heard(report(3)) == change::none);
  CHECK(x.near().count(id(3)) == 1);
  auto contributor = report(3, true);
  contributor.sponsor = id(1);
  CHECK(x.heard(contributor) == change::routes_no_more);
  CHECK(x.near().count(id(3)) == 0);
  CHECK(x.find(id(3))->in_own_cell);
  x.left(id(3));
  CHECK_FALSE(x.find(id(3)));
  CHECK_FALSE(x.heard_anybody());
}

TEST_CASE("all that the user named have to refuse before it is over") {
  first_contact x{{place(1), place(2)}, at(0s)};
  CHECK_FALSE(x.is_refused_by_all(place(1), "one"));
  CHECK_FALSE(x.is_refused_by_all(place(9), "a stranger"));
  SUBCASE("both do") {
    CHECK(x.is_refused_by_all(place(2), "two"));
  }
  SUBCASE("one of them, and the other is silent") {
    CHECK_FALSE(x.look(0, at(limits::first_contact_patience - 1ms)));
    auto word = x.look(0, at(limits::first_contact_patience));
    REQUIRE(word);
    CHECK(word->over);
    CHECK(word->sentence == "one");
  }
  SUBCASE("somebody has answered") {
    x.reached();
    CHECK_FALSE(x.is_refused_by_all(place(2), "two"));
    CHECK_FALSE(x.look(100, at(1h)));
  }
}
