/// A peer that lost its identity comes back at its old address.
#include <doctest/doctest.h>

#include "actors/peer.hpp"
#include "tests/actors/whole_peer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

TEST_CASE(
    "nobody waits for what a peer was before, and it leaves itself alone") {
  test_world world;
  std::vector<std::unique_ptr<whole_peer>> peers;
  for (std::uint8_t i = 1; i <= 3; ++i)
    peers.push_back(std::make_unique<whole_peer>(
        world, i,
        i == 1 ? std::vector<std::uint8_t>{} : std::vector<std::uint8_t>{1},
        100'000));
  REQUIRE(world.run_until([&] { return peers[2]->step() >= 20; }, 60s));
  // Without a goodbye.
  world.network.cut(host(3), host(1));
  world.network.cut(host(3), host(2));
  peers[2]->leave();
  world.run_for(2s);
  CHECK(peers[2]->running() == 0);
  world.network.heal(host(3), host(1));
  world.network.heal(host(3), host(2));
  auto c = tiny_peer(world.network, 3, {1}, 100'000);
  c.self = peer(9);
  c.signs = made_up(c.self);
  c.make_transport
      = [&world] { return world.network.make_transport(host(3), peer(9)); };
  peers.push_back(std::make_unique<whole_peer>(world, std::move(c)));
  auto& reborn = *peers[3];
  auto before = peers[0]->step();
  REQUIRE(world.run_until([&] { return reborn.step() > before; }, 30s));
  world.run_for(60s);
  // It met itself once at most, from either side.
  std::size_t met = 0;
  for (auto& x : reborn.observer->events("fault"))
    met += field<std::string>(x, "detail").find("same identity")
           != std::string::npos;
  CHECK(met <= 2);
  // The others work with it, and at their speed.
  auto steps = peers[0]->step();
  auto joins = peers[0]->observer->events("join").size();
  world.run_for(20s);
  auto last = peers[0]->observer->events("step");
  CHECK(field<std::uint64_t>(last.back(), "peers") == 3);
  CHECK(peers[0]->step() > steps + 100);
  CHECK(peers[0]->observer->events("join").size() == joins);
  for (auto& x : peers)
    x->leave();
  world.run_for(2s);
}
