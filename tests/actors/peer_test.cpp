/// Whole peers on one thread and a virtual clock.
#include "actors/peer.hpp"
#include "runtime/membership/restart_budget.hpp"
#include "runtime/step/finishing.hpp"

#include <doctest/doctest.h>

#include "tests/actors/whole_peer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t steps = 10;

/// Peers 1 to `count` that train one run; all but the first dial the first.
struct kitchen {
  explicit kitchen(std::uint8_t count, std::uint64_t seed = 1) {
    for (std::uint8_t i = 1; i <= count; ++i)
      peers.push_back(std::make_unique<whole_peer>(
          world, tiny_peer(world.network, i,
                           i == 1 ? std::vector<std::uint8_t>{}
                                  : std::vector<std::uint8_t>{1},
                           steps, seed)));
  }
  ~kitchen() {
    // Together, or the last would wait for goodbyes that nobody reads.
    for (auto& x : peers)
      x->leave();
    world.run_for(2 * limits::leave_patience);
  }
  bool all_finished() const {
    return std::all_of(peers.begin(), peers.end(),
                       [](auto& x) { return x->finished(); });
  }
  void check_equal_digests() const {
    for (auto& x : peers) {
      CHECK_FALSE(x->digest().empty());
      CHECK(x->digest() == peers.front()->digest());
    }
  }
  std::string log() const {
    std::string all;
    for (auto& x : peers)
      all += x->log() + "--\n";
    return all;
  }

  test_world world;
  std::vector<std::unique_ptr<whole_peer>> peers;
};

} // namespace

TEST_CASE("a peer alone trains to the end") {
  kitchen k{1};
  REQUIRE(k.world.run_until([&] { return k.peers[0]->over(); }, 60s));
  CHECK(k.peers[0]->finished());
  CHECK(k.peers[0]->observer->last<peer_over>().problem.empty());
  CHECK(k.peers[0]->observer->events("step").size() == steps);
  auto told = k.peers[0]->observer->events("step");
  CHECK(field<double>(told.back(), "loss")
        < field<double>(told.front(), "loss"));
}

TEST_CASE("three peers train together and end with the same state") {
  kitchen k{3};
  REQUIRE(k.world.run_until([&] { return k.all_finished(); }, 120s));
  k.check_equal_digests();
  for (auto& x : k.peers) {
    CHECK(x->observer->events("fault").empty());
    // Whoever came later downloaded the first steps; the last were together.
    auto told = x->observer->events("step");
    REQUIRE_FALSE(told.empty());
    CHECK(field<std::uint64_t>(told.back(), "step") == steps);
    CHECK(field<std::uint64_t>(told.back(), "peers") == 3);
  }
  REQUIRE(k.world.run_until(
      [&] {
        return std::all_of(k.peers.begin(), k.peers.end(),
                           [](auto& x) { return x->over(); });
      },
      2 * limits::finish_linger));
}

TEST_CASE("one seed gives one log, and another seed another") {
  auto run = [](std::uint64_t seed) {
    kitchen k{3, seed};
    REQUIRE(k.world.run_until([&] { return k.all_finished(); }, 120s));
    return k.log();
  };
  auto first = run(1);
  CHECK(first == run(1));
  CHECK(first != run(2));
}

TEST_CASE("whoever joins late downloads the state and takes part") {
  kitchen k{2};
  REQUIRE(k.world.run_until([&] { return k.peers[0]->step() >= 4; }, 60s));
  k.peers.push_back(std::make_unique<whole_peer>(
      k.world, tiny_peer(k.world.network, 3, {1}, steps)));
  REQUIRE(k.world.run_until([&] { return k.all_finished(); }, 120s));
  k.check_equal_digests();
  CHECK_FALSE(k.peers[2]->observer->events("state_download").empty());
}

TEST_CASE("a peer that leaves says goodbye, and the others go on") {
  kitchen k{3};
  REQUIRE(k.world.run_until([&] { return k.peers[2]->step() >= 3; }, 60s));
  k.peers[2]->leave();
  k.world.run_for(1s);
  CHECK(k.peers[2]->running() == 0);
  auto gone = k.peers[0]->observer->events("departure");
  REQUIRE(gone.size() == 1);
  CHECK(field<bool>(gone[0], "orderly"));
  k.peers.pop_back();
  REQUIRE(k.world.run_until([&] { return k.all_finished(); }, 120s));
  k.check_equal_digests();
}

TEST_CASE("a peer that vanishes does not stop the others") {
  for (auto moment : {0ms, 20ms, 40ms, 60ms, 90ms}) {
    CAPTURE(moment.count());
    kitchen k{3};
    REQUIRE(k.world.run_until([&] { return k.peers[0]->step() >= 3; }, 60s));
    k.world.run_for(moment);
    k.world.network.silence(host(1), host(3));
    k.world.network.silence(host(2), host(3));
    auto others
        = [&] { return k.peers[0]->finished() && k.peers[1]->finished(); };
    REQUIRE(k.world.run_until(others, 120s));
    CHECK(k.peers[0]->digest() == k.peers[1]->digest());
  }
}

TEST_CASE("after leaving nothing of a peer is left, soon") {
  for (auto when : {0ms, 50ms, 1000ms, 3000ms}) {
    CAPTURE(when.count());
    kitchen k{3};
    k.world.run_for(when);
    for (auto& x : k.peers)
      x->leave();
    k.world.run_for(limits::leave_patience + 100ms);
    for (auto& x : k.peers)
      CHECK(x->running() == 0);
    CHECK(k.world.network.open_connections() == 0);
  }
}

TEST_CASE("leaving is bounded in time when nobody reads the goodbye") {
  kitchen k{2};
  REQUIRE(k.world.run_until([&] { return k.peers[0]->step() >= 2; }, 60s));
  k.world.network.silence(host(1), host(2));
  k.peers[0]->leave();
  k.world.run_for(limits::leave_patience + 100ms);
  CHECK(k.peers[0]->running() == 0);
}

TEST_CASE("a child that fails too often ends the peer with a sentence") {
  kitchen k{1};
  auto& x = *k.peers[0];
  k.world.run_for(1s);
  for (std::size_t i = 0; i <= limits::restarts; ++i) {
    CHECK_FALSE(x.over());
    x.children.kill("router");
    k.world.run_for(50ms);
  }
  REQUIRE(x.over());
  CHECK(x.observer->last<peer_over>().problem.find("router")
        != std::string::npos);
  x.children.forget();
  k.world.run_for(1s);
  CHECK(x.running() == 0);
}
