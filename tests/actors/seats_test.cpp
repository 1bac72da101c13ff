#include "actors/seats.hpp"

#include <stdexcept>

#include <doctest/doctest.h>

#include "tests/support/test_world.hpp"

using namespace potluck;

namespace {

using arrival = seats::arrival;

peer_joined news_of(std::uint8_t number, role r = role::trainer) {
  peer_joined x;
  x.who = contact_of(number);
  x.role = r;
  return x;
}

/// Seats, and sessions that could take them.
struct seats_table {
  session_actor session() {
    return system.pretend<session_actor>().handle;
  }

  test_world world;
  test_system& system = world.add_system();
  seats it;
};

} // namespace

TEST_CASE("a session has its seat until it ends") {
  seats_table x;
  CHECK(x.it.empty());
  const auto session = x.session();
  CHECK(x.it.arrives(news_of(2), session) == arrival::fresh);
  CHECK(x.it.empty()); // Whether it may stay is not said yet.
  x.it.take(news_of(2), session);
  CHECK(x.it.at(peer(2)).session == session);
  CHECK(x.it.all().size() == 1);
  const auto gone = x.it.ended(session.address());
  REQUIRE(gone);
  CHECK(gone->news.who == contact_of(2));
  CHECK_FALSE(gone->unneeded);
  CHECK(x.it.empty());
  CHECK_FALSE(x.it.ended(session.address()));
}

TEST_CASE("a session that never had a seat leaves none") {
  seats_table x;
  const auto session = x.session();
  x.it.arrives(news_of(2), session);
  CHECK_FALSE(x.it.ended(session.address()));
}

TEST_CASE("a peer that comes back keeps its seat when its old session ends") {
  seats_table x;
  const auto before = x.session();
  const auto after = x.session();
  x.it.take(news_of(2), before);
  CHECK(x.it.arrives(news_of(2), after) == arrival::fresh);
  x.it.take(news_of(2), after);
  CHECK_FALSE(x.it.ended(before.address()));
  CHECK(x.it.at(peer(2)).session == after);
  CHECK(x.it.ended(after.address()));
}

TEST_CASE("of a session that is here the newest news are kept") {
  seats_table x;
  const auto session = x.session();
  x.it.take(news_of(2), session);
  auto news = news_of(2);
  news.relayed = true;
  CHECK(x.it.arrives(news, session) == arrival::again);
  CHECK(x.it.at(peer(2)).news.relayed);
}

TEST_CASE("a session whose peer has another role has no seat, and takes one") {
  seats_table x;
  const auto session = x.session();
  x.it.take(news_of(2), session);
  const auto news = news_of(2, role::bootstrap);
  CHECK(x.it.arrives(news, session) == arrival::changed);
  CHECK(x.it.empty());
  CHECK(x.it.arrives(news, session) == arrival::fresh);
  x.it.take(news, session);
  CHECK(x.it.at(peer(2)).news.role == role::bootstrap);
  CHECK(x.it.ended(session.address()));
}

TEST_CASE("whom this peer parts with is remembered until it is gone") {
  seats_table x;
  const auto session = x.session();
  x.it.take(news_of(2), session);
  x.it.is_unneeded(peer(2));
  CHECK(x.it.ended(session.address())->unneeded);
  CHECK_THROWS_AS(x.it.is_unneeded(peer(2)), std::out_of_range);
}
