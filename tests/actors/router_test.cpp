#include "actors/router.hpp"
#include "actors/wiring.hpp"

#include <doctest/doctest.h>
#include <set>

#include "runtime/dht/limits.hpp"
#include "tests/actors/node.hpp"
#include "tests/runtime/dht/sealed_records.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// Three nodes that only route; the later two know the first.
struct three_nodes {
  three_nodes() {
    for (std::uint8_t i = 1; i <= 3; ++i)
      nodes.push_back(std::make_unique<node>(
          world, i,
          i == 1 ? std::vector<std::uint8_t>{} : std::vector<std::uint8_t>{1},
          role::bootstrap));
    REQUIRE(world.run_until([&] { return nodes[0]->companions() == 2; }, 5s));
    asker.emplace(nodes[2]->system.pretend<records_reader>());
  }
  void publish(node& at, std::uint32_t lives_ms = 60000) {
    caf::anon_send(at.wired.router, publish_record{{key, "", "abc", lives_ms,
                                                    record_kind::coordinates}});
  }
  void look_up() {
    caf::anon_send(nodes[2]->wired.router, look_up_records{key, asker->handle});
  }

  test_world world;
  std::vector<std::unique_ptr<node>> nodes;
  std::optional<fake<records_reader>> asker;
  record_key key = key_of("run/soup");
};

/// A router whose gateway is a fake: the tests answer for the other nodes. It
/// asks nothing but what it is asked to.
struct lone_router {
  lone_router() {
    router_config config;
    config.self = peer(1);
    config.newcomer = true;
    config.how = made_up(config.self);
    it = system.keep((*system).spawn(router, config));
    wiring wired;
    wired.gateway = gateway.handle;
    caf::anon_send(it, wired.for_router());
  }
  void meet(std::uint8_t number) {
    peer_joined node;
    node.who = contact_of(number);
    caf::anon_send(it, node);
  }

  test_world world;
  test_system& system = world.add_system();
  fake<gateway_actor> gateway = system.pretend<gateway_actor>();
  router_actor it;
};

} // namespace

TEST_CASE("what one node publishes another finds") {
  three_nodes x;
  x.publish(*x.nodes[1]);
  x.world.settle();
  x.look_up();
  x.world.settle();
  auto found = (*x.asker)->last<records_looked_up>();
  REQUIRE(found.records.size() == 1);
  CHECK(found.records[0].value == "abc");
  CHECK(found.records[0].subkey == subkey_of(peer(2)));
  CHECK(found.answers == 2);
}

TEST_CASE("a peer that knows two bootstraps makes one swarm of theirs") {
  test_world world;
  std::vector<std::unique_ptr<node>> nodes;
  const auto add = [&](std::vector<std::uint8_t> seeds) {
    nodes.push_back(std::make_unique<node>(
        world, static_cast<std::uint8_t>(nodes.size() + 1), std::move(seeds),
        role::bootstrap));
  };
  add({});
  add({});
  for (std::uint8_t i = 0; i < 3; ++i) {
    add({1});
    add({2});
  }
  world.run_for(10s);
  const auto key = key_of("run/soup");
  auto asker = nodes[3]->system.pretend<records_reader>(); // Of the second.
  const auto found = [&] {
    caf::anon_send(
        nodes[2]->wired.router,
        publish_record{{key, "", "abc", 60000, record_kind::coordinates}});
    world.run_for(2s);
    caf::anon_send(nodes[3]->wired.router, look_up_records{key, asker.handle});
    world.run_for(2s);
    return asker->last<records_looked_up>().records.size();
  };
  CHECK(found() == 0);
  add({1, 2});
  world.run_for(10s);
  CHECK(found() == 1);
}

TEST_CASE("a publication does not wait for who is silent") {
  three_nodes x;
  x.world.network.silence(host(2), host(3));
  x.publish(*x.nodes[1]);
  x.world.run_for(limits::routing_patience / 4);
  // The first node is asked now, and holds it.
  x.look_up();
  x.world.run_for(4 * limits::routing_patience);
  REQUIRE((*x.asker)->count<records_looked_up>() == 1);
  CHECK((*x.asker)->last<records_looked_up>().records.size() == 1);
}

TEST_CASE("a record is found even when its publisher has gone") {
  three_nodes x;
  x.publish(*x.nodes[1]);
  x.world.settle();
  x.nodes[1]->crash();
  x.world.settle();
  x.look_up();
  x.world.run_for(2 * limits::routing_patience);
  REQUIRE((*x.asker)->count<records_looked_up>() == 1);
  CHECK((*x.asker)->last<records_looked_up>().records.size() == 1);
}

TEST_CASE("a record is gone when its life is over") {
  three_nodes x;
  x.publish(*x.nodes[1], 5000);
  x.world.run_for(4s);
  x.look_up();
  x.world.settle();
  CHECK((*x.asker)->last<records_looked_up>().records.size() == 1);
  x.world.run_for(2s);
  x.look_up();
  x.world.settle();
  CHECK((*x.asker)->count<records_looked_up>() == 2);
  CHECK((*x.asker)->last<records_looked_up>().records.empty());
}

TEST_CASE("a look-up ends when everybody else is silent") {
  three_nodes x;
  x.world.network.silence(host(3), host(1));
  x.world.network.silence(host(3), host(2));
  x.look_up();
  x.world.run_for(limits::routing_patience / 2);
  CHECK((*x.asker)->count<records_looked_up>() == 0);
  // Nobody may take the others' place in turn for longer than this.
  x.world.run_for(4 * limits::routing_patience);
  REQUIRE((*x.asker)->count<records_looked_up>() == 1);
  CHECK((*x.asker)->last<records_looked_up>().answers == 0);
}

TEST_CASE("a look-up ends when everybody else has gone") {
  three_nodes x;
  x.publish(*x.nodes[2]);
  x.world.settle();
  x.nodes[0]->crash();
  x.nodes[1]->crash();
  x.look_up();
  x.world.run_for(4 * limits::routing_patience);
  REQUIRE((*x.asker)->count<records_looked_up>() == 1);
  // What a node stores itself is found without anybody.
  CHECK((*x.asker)->last<records_looked_up>().records.size() == 1);
}

TEST_CASE("an answer to a question that nobody asked changes nothing") {
  three_nodes x;
  records_found forged;
  forged.token = 1;
  forged.records.push_back(sealed::report_of(peer(1), 1, x.key));
  caf::anon_send(x.nodes[0]->wired.gateway, parcel{peer(3), forged, {}});
  x.world.settle();
  x.look_up();
  x.world.settle();
  CHECK((*x.asker)->last<records_looked_up>().records.empty());
}

TEST_CASE("who answers late is named again, unless it is no node any more") {
  lone_router x;
  auto asker = x.system.pretend<records_reader>();
  x.meet(2);
  std::uint64_t token = 0;
  auto names_it = [&] {
    caf::anon_send(x.it, letter{peer(3), find_nodes{1, {}, {}}, {}});
    x.world.settle();
    auto said = std::get<nodes_found>(x.gateway->last<parcel>().content);
    return !said.nodes.empty();
  };
  // It is taken off the table after a few questions without an answer.
  for (unsigned i = 0; i < 20 && (i == 0 || names_it()); ++i) {
    caf::anon_send(x.it, look_up_records{key_of("soup"), asker.handle});
    x.world.run_for(2 * limits::routing_cap);
    auto asked = x.gateway->last<call>();
    token = std::get<find_records>(asked.content).token;
  }
  REQUIRE_FALSE(names_it());
  bool contributes = false;
  SUBCASE("it is still one") {
  }
  SUBCASE("it contributes by now") {
    contributes = true;
    caf::anon_send(x.it, routes_no_more{peer(2)});
  }
  caf::anon_send(x.it, letter{peer(2), records_found{token, {}, {}}, {}});
  x.world.settle();
  CHECK(names_it() != contributes);
}

TEST_CASE("an answer does not repeat what its asker knows") {
  three_nodes x;
  x.publish(*x.nodes[1]);
  x.world.settle();
  auto gateway = x.nodes[0]->system.pretend<gateway_actor>();
  auto wired = x.nodes[0]->wired;
  wired.gateway = gateway.handle;
  caf::anon_send(wired.router, wired.for_router());
  auto ask = [&](message what) {
    caf::anon_send(wired.router, letter{peer(9), std::move(what), {}});
    x.world.settle();
    return gateway->last<parcel>().content;
  };
  auto nodes = std::get<nodes_found>(ask(find_nodes{7, x.key, {}})).nodes;
  REQUIRE(nodes.size() == 2);
  auto rest = std::get<nodes_found>(
      ask(find_nodes{7, x.key, {known_mark(nodes[0].id, 7)}}));
  REQUIRE(rest.nodes.size() == 1);
  CHECK(rest.nodes[0].id == nodes[1].id);
  // Marks of another request say nothing.
  auto others = ask(find_nodes{8, x.key, {known_mark(nodes[0].id, 7)}});
  CHECK(std::get<nodes_found>(others).nodes.size() == 2);

  auto all = std::get<records_found>(ask(find_records{7, x.key, {}, {}}));
  CHECK(all.records.size() == 1);
  CHECK(all.nodes.size() == 2);
  auto known = std::get<records_found>(ask(find_records{
      7, x.key, {known_mark(nodes[1].id, 7)}, {known_mark(peer(2), 7)}}));
  CHECK(known.records.empty());
  REQUIRE(known.nodes.size() == 1);
  CHECK(known.nodes[0].id == nodes[0].id);
}

TEST_CASE("who needs few records gets few, and hears how many there are") {
  three_nodes x;
  auto gateway = x.nodes[0]->system.pretend<gateway_actor>();
  auto wired = x.nodes[0]->wired;
  wired.gateway = gateway.handle;
  caf::anon_send(wired.router, wired.for_router());
  constexpr std::size_t all = 30;
  for (std::uint8_t i = 0; i < all; ++i)
    caf::anon_send(
        wired.router,
        letter{peer(8),
               store_records{1, {sealed::report_of(peer(i), 1, x.key)}},
               {}});
  std::set<std::string> named;
  for (std::uint64_t token = 0; token < 40; ++token) {
    caf::anon_send(wired.router,
                   letter{peer(9), find_records{token, x.key, {}, {}, 4}, {}});
    x.world.settle();
    auto said = std::get<records_found>(gateway->last<parcel>().content);
    CHECK(said.stored == all);
    REQUIRE(said.records.size() == 4);
    for (auto& record : said.records)
      named.insert(record.subkey);
  }
  // Others every time: 40 draws of 4 leave out one in 30 by a chance of 0.004.
  CHECK(named.size() >= all - 2);
}

TEST_CASE("a publication says at how many nodes it is kept") {
  lone_router x;
  for (std::uint8_t i = 2; i < 9; ++i)
    x.meet(i);
  caf::anon_send(x.it, publish_record{{key_of("soup"), "", "abc", 60000,
                                       record_kind::coordinates},
                                      3});
  std::set<peer_id> answered;
  std::size_t stored = 0;
  for (int i = 0; i < 20; ++i) {
    x.world.settle();
    stored = 0;
    for (auto& said : x.gateway->all<call>()) {
      stored += std::holds_alternative<store_records>(said.content);
      if (auto* asked = std::get_if<find_nodes>(&said.content);
          asked && answered.insert(said.to.id).second)
        caf::anon_send(x.it,
                       letter{said.to.id, nodes_found{asked->token, {}}, {}});
    }
  }
  CHECK(answered.size() == 7);
  CHECK(stored >= 3);
  CHECK(stored < 7);
}

TEST_CASE("who looks records up says what it knows") {
  lone_router x;
  auto asker = x.system.pretend<records_reader>();
  x.meet(2);
  caf::anon_send(x.it, look_up_records{key_of("soup"), asker.handle, {"mine"}});
  x.world.settle();
  auto asked = std::get<find_records>(x.gateway->last<call>().content);
  CHECK(asked.known_nodes == known_marks{known_mark(peer(2), asked.token)});
  CHECK(asked.known_records
        == known_marks{known_mark(std::string_view{"mine"}, asked.token)});
}

TEST_CASE(
    "a node that this peer parted with is asked when there are questions") {
  lone_router x;
  auto asker = x.system.pretend<records_reader>();
  x.meet(2);
  peer_left news{peer(2), "", true};
  SUBCASE("it has gone itself") {
  }
  SUBCASE("it was not needed") {
    news.unneeded = true;
  }
  caf::anon_send(x.it, news);
  x.gateway->clear();
  caf::anon_send(x.it, look_up_records{key_of("soup"), asker.handle});
  x.world.settle();
  CHECK(x.gateway->count<call>() == (news.unneeded ? 1 : 0));
}

TEST_CASE("one that invents peers leads nobody astray") {
  three_nodes x;
  // Fifty that "have finished", none of which has said so; one is a member.
  store_records lie{1, {}};
  for (std::uint8_t i = 2; i < 52; ++i) {
    lie.records.push_back(sealed::report_of(peer(i), 1, x.key));
    progress_report said;
    said.id = peer(i);
    said.phase = phase::finished;
    said.step = 1000;
    lie.records.back().value = encode_progress(said);
  }
  for (auto& at : x.nodes)
    caf::anon_send(at->wired.router, letter{peer(9), lie, {}});
  x.world.settle();
  x.look_up();
  x.world.settle();
  CHECK((*x.asker)->last<records_looked_up>().answers == 2);
  CHECK((*x.asker)->last<records_looked_up>().records.empty());
}
