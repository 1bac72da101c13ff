/// Peers that cannot dial each other have a session through a hub, and a direct
/// line takes over when there is one.
#include <doctest/doctest.h>

#include "actors/hole_maker.hpp"
#include "runtime/relay/limits.hpp"
#include "runtime/state/limits.hpp"
#include "runtime/state/serving_budget.hpp"
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

  /// Has it make holes, as one that is seen at its own host and port.
  void make_holes(node& x, std::uint8_t number) {
    x.replace(&wiring::hole_maker,
              (*x.system).spawn(hole_maker, hole_maker_config{x.id, number}));
    world.run_for(1s); // Until the roster has said what it knows.
    reach_known own{false, 0, reach::cone, {{host(number), 1000}}, {}};
    caf::anon_send(x.wired.hole_maker, own);
  }
  void make_holes() {
    make_holes(a, 2);
    make_holes(b, 3);
  }
  bool direct() {
    return !news_of(a, 3).relayed && !news_of(b, 2).relayed;
  }
  void say_hole(const std::vector<address>& seen, std::uint64_t token) {
    for (const message& x : {message{hole_connect{token, false, seen, seen}},
                             message{hole_sync{token}}}) {
      caf::anon_send(a.wired.gateway, parcel{peer(3), x, {}});
      world.run_for(1s);
    }
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
  // Where they are, the hub says, and nobody else.
  CHECK(x.news_of(x.a, 3).who.where == address{host(3), 0});
  CHECK(x.news_of(x.b, 2).who.where == address{host(2), 0});
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

TEST_CASE("calls of experts go through a hub where both ends allow it") {
  for (bool caller : {false, true})
    for (bool host_allows : {false, true}) {
      CAPTURE(caller);
      CAPTURE(host_allows);
      test_world world;
      world.network.cut(host(2), host(3));
      node hub{world, 1, {}, role::bootstrap};
      node a{world, 2, {1}, role::trainer, "soup", caller};
      node b{world, 3, {1}, role::trainer, "soup", host_allows};
      auto& system = a.system;
      auto calls = system.pretend<expert_caller_door>();
      auto hosts = b.system.pretend<expert_host_door>();
      a.wired.expert_caller = calls.handle;
      b.wired.expert_host = hosts.handle;
      a.wire();
      b.wire();
      for (auto* x : {&a, &b}) {
        own_report news;
        news.report.id = x->id;
        news.report.phase = phase::accumulating;
        caf::anon_send(x->wired.roster, news);
      }
      REQUIRE(world.run_until(
          [&] {
            return a.wired.guests->session_of(peer(3))
                   && b.wired.guests->session_of(peer(2));
          },
          30s));
      expert_request call;
      call.number = 7;
      call.uid = "ffn.0";
      call.samples = call.values = call.patience_ms = 1;
      auto body = std::make_shared<std::vector<std::uint8_t>>(4);
      for (int i = 0; i < 2; ++i)
        caf::anon_send(a.wired.gateway,
                       parcel{peer(3), call, {body, body->data(), 4}});
      world.run_for(1s);
      const bool goes = caller && host_allows;
      CHECK(hosts->contents<expert_request, letter>().size() == (goes ? 2 : 0));
      auto answers = calls->contents<expert_answer, letter>();
      REQUIRE(answers.size() == (goes ? 0 : 2));
      for (auto& x : answers) {
        CHECK(x.number == 7);
        CHECK(x.outcome == expert_outcome::failed);
        CHECK(x.sentence.find("relay-experts") != std::string::npos);
      }
      std::size_t said = 0;
      for (auto& fault : a.observer->events("fault"))
        said += field<std::string>(fault, "what") == "no direct line";
      CHECK(said == (caller ? 0 : 1));
    }
}

TEST_CASE("a letter waits less than a second behind pieces of a state") {
  street x;
  REQUIRE(x.meet());
  // As a donor sends them: what is in flight is bounded, whatever is asked for.
  serving_budget budget{{1, limits::joiner_bytes_in_flight, 0, 30s, 0}};
  budget.reach(peer(3), true);
  const auto size = limits::usual_piece_bytes;
  auto body = std::make_shared<std::vector<std::uint8_t>>(size);
  std::uint32_t asked = 0;
  const auto now = [&] { return time_point{x.world.now()}; };
  budget.admit(peer(3), now());
  const auto serve = [&] {
    piece_request wish;
    wish.state.bytes[0] = 1;
    const auto got = x.b.state_keeper->contents<state_piece, letter>().size();
    wish.arrived = got * size;
    for (; asked < got + 32; ++asked, ++wish.piece)
      budget.ask(peer(3), wish, size, now());
    while (auto turn = budget.next(now()))
      caf::anon_send(x.a.wired.gateway,
                     parcel{peer(3),
                            state_piece{turn->request.state, 0, false},
                            {body, body->data(), size}});
  };
  for (int letter = 1; letter <= 10; ++letter) {
    for (int i = 0; i < 100; ++i) {
      serve();
      x.world.run_for(10ms);
    }
    x.say(letter);
    for (int i = 0; i < 90; ++i) {
      serve();
      x.world.run_for(10ms);
    }
    CHECK(x.heard().size() == static_cast<std::size_t>(letter));
  }
  // And that costs no speed: a circuit's rate.
  const auto got = x.b.state_keeper->contents<state_piece, letter>().size();
  CHECK(static_cast<double>(got * size) > 0.8 * 19 * limits::circuit_rate);
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

TEST_CASE("a hole takes over from a hub, and nothing is lost or overtaken") {
  street x;
  REQUIRE(x.meet());
  x.make_holes();
  x.world.run_for(10s);
  CHECK_FALSE(x.direct()); // Nothing is open between them.
  x.world.network.heal(host(2), host(3));
  int number = 0;
  for (int i = 0; i < 900 && !x.direct(); ++i) {
    x.say(++number);
    x.world.run_for(100ms);
  }
  REQUIRE(x.direct());
  for (int i = 0; i < 100; ++i) {
    x.say(++number);
    x.world.run_for(10ms);
  }
  x.world.run_for(1s);
  std::vector<int> all;
  for (int i = 1; i <= number; ++i)
    all.push_back(i);
  CHECK(x.heard() == all);
  CHECK(x.b.matchmaking->count<peer_left>() == 0);
  x.hub.crash();
  x.world.run_for(5s);
  for (auto& gone : x.b.matchmaking->all<peer_left>())
    CHECK(gone.id != peer(2));
}

TEST_CASE("a hole that cannot be made is no news of its peer, but once") {
  street x;
  REQUIRE(x.meet());
  x.make_holes();
  x.world.run_for(3min);
  CHECK_FALSE(x.direct());
  CHECK(x.a.observer->events("hole").size() == 1);
  CHECK(x.b.observer->events("hole").empty()); // It only answers.
  for (auto* y : {&x.a, &x.b})
    CHECK(y->matchmaking->count<peer_left>() == 0);
  x.say(1);
  x.world.run_for(1s);
  CHECK(x.heard() == std::vector<int>{1});
}

namespace {

/// A machine that nobody asked.
struct bystander : transport_listener {
  explicit bystander(test_world& world)
      : net(world.network.make_transport(host(9))) {
    net->start(std::shared_ptr<transport_listener>{this, [](auto*) {}});
    net->listen({"0.0.0.0", 1000});
  }
  ~bystander() override {
    net->stop();
  }
  void on_accepted(connection_id, const address&, const peer_id&) override {
    ++knocks;
  }
  void on_connected(connection_id, const address&, const peer_id&) override {
  }
  void on_frame(connection_id, incoming_frame) override {
  }
  void on_closed(connection_id, const std::string&) override {
  }
  std::unique_ptr<transport> net;
  int knocks = 0;
};

} // namespace

TEST_CASE("nobody punches where a peer says that it is, but no hub sees it") {
  street x;
  bystander victim{x.world};
  REQUIRE(x.meet());
  x.make_holes(x.b, 3);
  x.world.network.heal(host(2), host(3));
  x.say_hole({{host(9), 1000}}, 71);
  x.say_hole({{host(9), 1000}, {"10.0.0.09", 1000}}, 72);
  CHECK(victim.knocks == 0);
  CHECK_FALSE(x.direct());
  // That was all that was wrong with it.
  x.say_hole({{host(9), 1000}, {host(2), 1000}}, 73);
  x.world.run_for(1s);
  CHECK(victim.knocks == 0);
  CHECK(x.direct());
}

TEST_CASE(
    "a peer that others can dial is dialled, once it asks through a hub") {
  street x;
  REQUIRE(x.meet());
  x.a.replace(&wiring::hole_maker,
              (*x.a.system).spawn(hole_maker, hole_maker_config{x.a.id, 2}));
  x.world.network.heal(host(2), host(3));
  progress_report said;
  said.id = peer(3);
  said.where = {host(3), 1000};
  said.phase = phase::accumulating;
  const auto says = [&](reach how) {
    said.reach = how;
    ++said.step;
    caf::anon_send(x.b.wired.gateway, parcel{peer(2), said, {}});
    x.world.run_for(5s);
    return x.direct();
  };
  CHECK_FALSE(says(reach::unknown)); // It does not know yet.
  CHECK(says(reach::open));
  CHECK(x.a.matchmaking->count<peer_left>() == 0);
}

TEST_CASE("where the hub dies, a trainer with an open port takes over") {
  street x;
  node open{x.world, 4};
  REQUIRE(x.meet());
  // That they get through shows it that others can.
  for (auto* y : {&x.a, &x.b})
    caf::anon_send(y->wired.gateway,
                   dial_contact{{peer(4), {host(4), 1000}}, {}});
  x.world.run_for(2s);
  const auto met = [&] { return x.a.observer->events("join").size(); };
  REQUIRE(met() == 3);
  x.hub.crash();
  CHECK(x.world.run_until([&] { return met() == 4; }, 30s));
  CHECK(x.news_of(x.a, 3).relayed);
  x.say(1);
  x.world.run_for(1s);
  CHECK(x.heard() == std::vector<int>{1});
}
