/// What news of other peers change: whom to dial, and what others are to hear.
#include "runtime/membership/known_peers.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using change = guest_book::change;
using hearsay = known_peers::hearsay;

peer_id id(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

address place(std::uint8_t number) {
  return {"10.0.0." + std::to_string(number), 7000};
}

contact at(std::uint8_t number) {
  return {id(number), place(number)};
}

progress_report report(std::uint8_t number, phase p = phase::accumulating) {
  progress_report x;
  x.id = id(number);
  x.where = place(number);
  x.phase = p;
  return x;
}

/// Peer 1, and whom it knows.
struct peer_one {
  explicit peer_one(std::vector<address> seeds = {},
                    std::map<address, peer_id> pins = {})
      : it({id(1), role::trainer, std::move(seeds), std::move(pins), {}, 7},
           now) {
  }

  known_peers::oneself me() const {
    return {mine, "10.0.0.1", reachable, true};
  }
  void meet(std::uint8_t number, role r = role::trainer) {
    REQUIRE(it.admits({at(number), r}, now));
    it.joined({at(number), r}, now);
  }
  void part(std::uint8_t number, bool orderly, bool unneeded = false) {
    it.left(id(number), {orderly, unneeded}, me(), now);
  }
  /// Whom it dials at the next look, so much later.
  std::vector<contact> dials_after(duration pause = 10ms) {
    now += pause;
    return it.due(me(), now);
  }
  hearsay hear_of(const progress_report& x) {
    return it.heard_of(x, 1s, me(), now);
  }

  time_point now{1h};
  progress_report mine = report(1);
  bool reachable = true;
  known_peers it;
};

using contacts = std::vector<contact>;

} // namespace

TEST_CASE("a guest's report is news of itself, and of nobody else") {
  peer_one x;
  x.meet(2);
  CHECK_FALSE(x.it.heard(id(2), report(3), x.now).is_news);
  CHECK_FALSE(x.it.heard(id(3), report(3), x.now).is_news);
  CHECK(x.it.ledger().last_report(id(3)) == nullptr);
  auto said = report(2, phase::joining);
  said.where = {}; // Wherever it is seen.
  const auto heard = x.it.heard(id(2), said, x.now);
  CHECK(heard.is_news);
  CHECK(heard.report.where == place(2));
  REQUIRE(x.it.ledger().last_report(id(2)));
  CHECK(x.it.ledger().last_report(id(2))->where == place(2));
  CHECK(x.it.guests().find(id(2))->heard);
}

TEST_CASE("a guest that averages is a node of the DHT, a contributor none") {
  peer_one x;
  x.meet(2);
  CHECK(x.it.heard(id(2), report(2), x.now).node == change::routes);
  CHECK(x.it.heard(id(2), report(2), x.now).node == change::none);
  auto said = report(2);
  said.contributes = true;
  CHECK(x.it.heard(id(2), said, x.now).node == change::routes_no_more);
}

TEST_CASE("what a banned guest says changes nothing") {
  peer_one x;
  x.meet(2);
  x.it.ban(id(2), x.now);
  const auto heard = x.it.heard(id(2), report(2), x.now);
  CHECK_FALSE(heard.is_news);
  CHECK(heard.node == change::none);
  CHECK_FALSE(x.it.guests().find(id(2))->heard);
  CHECK_FALSE(x.it.admits({at(2)}, x.now));
}

TEST_CASE("an address is worth keeping where a guest can be dialled and is") {
  peer_one x;
  x.meet(2);
  auto said = report(2);
  const auto shows = [&] { return x.it.heard(id(2), said, x.now).has_address; };
  CHECK_FALSE(shows()); // It has not found out.
  said.reach = reach::cone;
  CHECK_FALSE(shows());
  said.reach = reach::open;
  CHECK(shows());
  CHECK_FALSE(shows()); // It has said so.
  said.where.port = 7001;
  CHECK(shows());
  said.where.host = "10.0.0.99"; // It is not seen there.
  CHECK_FALSE(shows());
  said.where = place(2);
  x.it.moved({at(2), role::trainer, true, false}, x.now);
  CHECK_FALSE(shows()); // A hub is where it is seen now.
}

TEST_CASE("a record is news once, but of those that are connected") {
  peer_one x;
  x.meet(2);
  CHECK(x.hear_of(report(2)) == hearsay::of_guest);
  CHECK(x.it.ledger().last_report(id(2)) == nullptr);
  CHECK(x.hear_of(report(3)) == hearsay::in_reach);
  CHECK(x.hear_of(report(3)) == hearsay::old);
  CHECK(x.hear_of(report(1)) == hearsay::old); // This peer itself.
}

TEST_CASE("nobody waits for whom no line leads to") {
  peer_one x;
  auto hidden = report(3);
  hidden.where.port = 0;
  SUBCASE("it dials us") {
    CHECK(x.hear_of(hidden) == hearsay::in_reach);
  }
  SUBCASE("it cannot") {
    x.reachable = false;
    CHECK(x.hear_of(hidden) == hearsay::beyond);
  }
  SUBCASE("a hub leads there") {
    x.reachable = false;
    hidden.hubs = {at(7)};
    CHECK(x.hear_of(hidden) == hearsay::in_reach);
  }
}

TEST_CASE("whoever is heard of is dialled at the next look") {
  peer_one x;
  x.hear_of(report(2));
  CHECK(x.dials_after() == contacts{at(2)});
  CHECK(x.dials_after().empty());
  x.hear_of(report(3));
  CHECK(x.dials_after() == contacts{at(3)});
  x.meet(2);
  x.meet(3);
  CHECK(x.dials_after(1min).empty());
}

TEST_CASE("how a guest went says when it is dialled again") {
  peer_one x;
  x.meet(2);
  CHECK(x.dials_after().empty());
  SUBCASE("it said goodbye: not until somebody speaks of it") {
    x.part(2, true);
    CHECK(x.it.ledger().size() == 0);
    CHECK(x.dials_after(1min).empty());
  }
  SUBCASE("its line broke: after a pause") {
    x.part(2, false);
    CHECK(x.dials_after().empty());
    CHECK(x.dials_after(1s) == contacts{at(2)});
  }
  SUBCASE("it was not needed: as soon as it is") {
    x.part(2, true, true);
    CHECK(x.dials_after() == contacts{at(2)});
  }
  SUBCASE("it was banned: not before that has ended") {
    x.it.ban(id(2), x.now);
    x.part(2, true);
    CHECK(x.it.ledger().is_banned(id(2), x.now));
    CHECK(x.dials_after(1min).empty());
  }
  CHECK_FALSE(x.it.guests().find(id(2)));
  CHECK_FALSE(x.it.is_here(place(2)));
}

TEST_CASE("a peer that cannot be reached in any way is not waited for") {
  peer_one x;
  const auto fails = [&](std::uint8_t number, bool through_hub) {
    return x.it.dial_failed(place(number), id(number), through_hub, x.now);
  };
  CHECK_FALSE(fails(2, false)); // It has said nothing that others may believe.
  x.hear_of(report(2));
  CHECK(fails(2, false));
  auto said = report(3);
  said.hubs = {at(7)};
  x.hear_of(said);
  CHECK_FALSE(fails(3, false));
  CHECK(fails(3, true));
  x.meet(3); // It has dialled us.
  CHECK_FALSE(fails(3, true));
}

TEST_CASE("at the user's address only the peer that the user named counts") {
  peer_one x{{place(8), place(9)}, {{place(9), id(9)}}};
  CHECK(x.dials_after() == contacts{{{}, place(8)}, {{}, place(9)}});
  CHECK(x.it.route_to({{}, place(8)}, x.me()).who == contact{{}, place(8)});
  CHECK(x.it.route_to({{}, place(9)}, x.me()).who == at(9));
  // That it was not there is a failure of the seed, too.
  CHECK(x.it.ledger().most_failed_seed_dials() == 0);
  x.it.dial_failed(place(9), id(9), false, x.now);
  CHECK(x.it.ledger().most_failed_seed_dials() == 1);
}

TEST_CASE("a guest is the one that the user named, whenever that shows") {
  peer_one x{{place(8), place(9)}};
  x.it.answered(place(8), id(8), x.now);
  x.meet(8);
  x.meet(9);
  CHECK(x.it.guests().find(id(8))->is_seed);
  CHECK_FALSE(x.it.guests().find(id(9))->is_seed);
  x.it.answered(place(9), id(9), x.now);
  CHECK(x.it.guests().find(id(9))->is_seed);
}

TEST_CASE("a peer is dialled where it says, through hubs, or by both") {
  peer_one x;
  CHECK(x.it.route_to(at(2), x.me()).who == at(2));
  auto said = report(2);
  said.also = {"10.0.1.2", 7000};
  said.hubs = {at(7)};
  x.hear_of(said);
  const auto both = x.it.route_to(at(2), x.me());
  CHECK(both.who == at(2));
  CHECK(both.hubs == contacts{at(7)});
  CHECK(both.also == said.also);
  said = report(3);
  said.where.port = 0;
  said.hubs = {at(7)};
  x.hear_of(said);
  const auto hidden = x.it.route_to({id(3), said.where}, x.me());
  CHECK(hidden.who == contact{id(3), {}});
  CHECK(hidden.hubs == contacts{at(7)});
  CHECK(hidden.also == address{});
}

TEST_CASE("a guest that joins anew is none meanwhile, but stays known") {
  peer_one x;
  x.meet(2);
  x.it.heard(id(2), report(2), x.now);
  x.it.starts_anew(id(2));
  CHECK_FALSE(x.it.guests().find(id(2)));
  CHECK(x.it.ledger().is_linked(id(2)));
  x.meet(2, role::bootstrap);
  CHECK(x.it.guests().find(id(2))->role == role::bootstrap);
  CHECK_FALSE(x.it.guests().find(id(2))->heard);
}
