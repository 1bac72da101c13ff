/// Peers that cannot dial each other have a session through a hub, and a direct
/// line takes over when there is one.
#include <doctest/doctest.h>

#include "tests/actors/node.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// A bootstrap, and two trainers between whom nothing can be dialled.
struct street {
  street() {
    world.network.cut(host(2), host(3));
    for (std::uint8_t number : {2, 3})
      world.network.delay(host(1), host(number), 40ms);
    for (auto* x : {&a, &b}) {
      own_report news;
      news.report.id = x->id;
      news.report.phase = phase::accumulating;
      caf::anon_send(x->wired.roster, news);
    }
  }
  peer_joined news_of(node& x, std::uint8_t other) {
    peer_joined result;
    for (auto& y : x.matchmaking->all<peer_joined>())
      if (y.who.id == peer(other))
        result = y;
    return result;
  }
  bool meet() {
    return world.run_until(
        [&] {
          return news_of(a, 3).who.id == peer(3)
                 && news_of(b, 2).who.id == peer(2);
        },
        30s);
  }
  void say(int number) {
    group_cancel x;
    x.group.bytes[0] = 1;
    x.reason = std::to_string(number);
    caf::anon_send(a.wired.gateway, parcel{peer(3), x, {}});
  }
  std::vector<int> heard() {
    std::vector<int> result;
    for (auto& x : b.matchmaking->contents<group_cancel, letter>())
      result.push_back(std::stoi(x.reason));
    return result;
  }

  test_world world;
  node hub{world, 1, {}, role::bootstrap}, a{world, 2, {1}}, b{world, 3, {1}};
};

} // namespace

TEST_CASE("whoever can open one connection to a hub meets the others there") {
  street x;
  REQUIRE(x.meet());
  CHECK(x.news_of(x.a, 3).relayed);
  CHECK(x.news_of(x.b, 2).relayed);
  // Where they are nobody has seen: an address would be a stranger's word.
  CHECK(x.news_of(x.a, 3).who.where == address{});
  CHECK(x.news_of(x.a, 1).is_hub);
  CHECK_FALSE(x.news_of(x.a, 1).relayed);
  CHECK(x.a.matchmaking->count<peer_left>() == 0); // Nobody gave up meanwhile.
  x.say(1);
  x.world.run_for(1s);
  CHECK(x.heard() == std::vector<int>{1});
  // They live on, at rest,
  x.world.run_for(2min);
  CHECK(x.b.matchmaking->count<peer_left>() == 0);
  // and end with the hub.
  x.hub.crash();
  x.world.run_for(1s);
  CHECK(x.b.matchmaking->last<peer_left>().id != peer_id{});
}

TEST_CASE("no part of a gradient goes through a hub, and that is said once") {
  street x;
  REQUIRE(x.meet());
  auto body = std::make_shared<std::vector<std::uint8_t>>(64);
  const shared_bytes bytes{body, body->data(), body->size()};
  for (int i = 0; i < 3; ++i)
    caf::anon_send(x.a.wired.gateway, parcel{peer(3), chunk_part{}, bytes});
  x.say(1);
  x.world.run_for(1s);
  CHECK(x.heard() == std::vector<int>{1});
  CHECK(x.b.averager->contents<chunk_part, letter>().empty());
  std::size_t said = 0;
  for (auto& fault : x.a.observer->events("fault"))
    said += field<std::string>(fault, "what") == "no direct line";
  CHECK(said == 1);
}

TEST_CASE("a direct line takes over, and nothing is lost or overtaken") {
  street x;
  REQUIRE(x.meet());
  x.world.network.heal(host(2), host(3));
  int number = 0;
  const auto talk = [&](int words) {
    for (int i = 0; i < words; ++i) {
      x.say(++number);
      x.world.run_for(10ms);
    }
  };
  talk(10);
  caf::anon_send(x.a.wired.gateway,
                 dial_contact{{peer(3), {host(3), 1000}}, {}});
  talk(100);
  x.world.run_for(1s);
  std::vector<int> all;
  for (int i = 1; i <= number; ++i)
    all.push_back(i);
  CHECK(x.heard() == all);
  CHECK_FALSE(x.news_of(x.a, 3).relayed);
  CHECK_FALSE(x.news_of(x.b, 2).relayed);
  CHECK(x.news_of(x.a, 3).who.where.host == host(3));
  CHECK(x.b.matchmaking->count<peer_left>() == 0);
  // The circuit has gone: the hub may go, too.
  x.hub.crash();
  x.world.run_for(5s);
  for (auto& gone : x.b.matchmaking->all<peer_left>()) {
    CAPTURE(gone.reason);
    CHECK(gone.id != peer(2));
  }
}

TEST_CASE("a direct line takes over while a megabyte waits in each direction") {
  street x;
  REQUIRE(x.meet());
  x.world.network.heal(host(2), host(3));
  constexpr std::size_t pieces = 16;
  const auto give = [&](node& from, std::uint8_t to) {
    state_piece x;
    x.state.bytes[0] = 1;
    auto body = std::make_shared<std::vector<std::uint8_t>>(64 * 1024);
    const shared_bytes bytes{body, body->data(), body->size()};
    for (; x.piece < pieces; ++x.piece)
      caf::anon_send(from.wired.gateway, parcel{peer(to), x, bytes});
  };
  const auto got = [](node& at) {
    std::vector<std::uint32_t> result;
    for (auto& piece : at.state_keeper->contents<state_piece, letter>())
      result.push_back(piece.piece);
    return result;
  };
  give(x.a, 3);
  give(x.b, 2);
  caf::anon_send(x.a.wired.gateway,
                 dial_contact{{peer(3), {host(3), 1000}}, {}});
  x.world.run_for(500ms);
  x.say(1); // On the direct line, and read when the circuit has brought all.
  CHECK(got(x.a).size() < pieces);
  CHECK_FALSE(x.news_of(x.a, 3).relayed);
  x.world.run_for(20s);
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < pieces; ++i)
    all.push_back(i);
  CHECK(got(x.a) == all);
  CHECK(got(x.b) == all);
  CHECK(x.heard() == std::vector<int>{1});
  CHECK(x.a.matchmaking->count<peer_left>() == 0);
  CHECK(x.b.matchmaking->count<peer_left>() == 0);
}

TEST_CASE("a circuit that falls silent ends the session, a slow one does not") {
  for (bool silent : {false, true}) {
    CAPTURE(silent);
    street x;
    REQUIRE(x.meet());
    x.world.network.heal(host(2), host(3));
    // Twice as long as a silent one is waited for, at a circuit's rate.
    state_piece piece;
    piece.state.bytes[0] = 1;
    auto body = std::make_shared<std::vector<std::uint8_t>>(64 * 1024);
    for (; piece.piece < 95; ++piece.piece)
      caf::anon_send(
          x.a.wired.gateway,
          parcel{peer(3), piece, {body, body->data(), body->size()}});
    caf::anon_send(x.a.wired.gateway,
                   dial_contact{{peer(3), {host(3), 1000}}, {}});
    x.world.run_for(1s);
    x.say(1);
    if (silent)
      x.world.network.silence(host(1), host(3));
    x.world.run_for(12s);
    x.say(2);
    x.world.run_for(28s);
    bool left = false;
    for (auto& gone : x.b.matchmaking->all<peer_left>())
      left = left || gone.id == peer(2);
    CHECK(left == silent);
    if (!silent)
      CHECK(x.heard() == std::vector<int>{1, 2});
  }
}
