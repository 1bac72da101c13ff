/// Children of whole peers are ended at many moments; the run goes on.
#include <doctest/doctest.h>

#include "actors/peer.hpp"
#include "tests/actors/whole_peer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t run_length = 40;

void run_with_kill(const std::string& child, std::size_t whose,
                   duration moment) {
  CAPTURE(child);
  CAPTURE(whose);
  CAPTURE(moment.count());
  test_world world;
  std::vector<std::unique_ptr<whole_peer>> peers;
  for (std::uint8_t i = 1; i <= 3; ++i)
    peers.push_back(std::make_unique<whole_peer>(
        world, i,
        i == 1 ? std::vector<std::uint8_t>{} : std::vector<std::uint8_t>{1},
        run_length));
  auto& victim = *peers[whose];
  auto all = [&](auto condition) {
    return std::all_of(peers.begin(), peers.end(),
                       [&](auto& x) { return condition(*x); });
  };
  REQUIRE(world.run_until(
      [&] { return all([](auto& x) { return x.step() >= 3; }); }, 60s));
  world.run_for(moment);
  auto starts = victim.children.starts(child);
  auto younger = victim.children.starts("conductor");
  victim.children.kill(child);
  world.run_for(100ms);
  CHECK(victim.children.starts(child) == starts + 1);
  // Nobody was built on these two; on all others their juniors were.
  auto alone = child == "router" || child == "registrar";
  CHECK(victim.children.starts("conductor") == younger + (alone ? 0 : 1));
  CHECK(victim.observer->events("fault").size() >= 1);
  REQUIRE(world.run_until(
      [&] { return all([](auto& x) { return x.finished(); }); }, 180s));
  for (auto& x : peers) {
    CHECK(x->digest() == peers.front()->digest());
    // No step is counted twice.
    std::uint64_t last = 0;
    for (auto& told : x->observer->events("step")) {
      auto step = field<std::uint64_t>(told, "step");
      CHECK(step > last);
      last = step;
    }
    // Nobody stays alone.
    CHECK(field<std::uint64_t>(x->observer->events("step").back(), "peers")
          == 3);
  }
  for (auto& x : peers)
    x->leave();
  world.run_for(1s);
  for (auto& x : peers)
    CHECK(x->running() == 0);
}

void run_with_kills(const std::string& child) {
  for (std::size_t whose : {0, 2})
    for (auto moment : {0ms, 10ms, 30ms, 50ms, 70ms})
      run_with_kill(child, whose, moment);
}

} // namespace

TEST_CASE("a run survives the end of a gateway") {
  run_with_kills("gateway");
}
TEST_CASE("a run survives the end of a roster") {
  run_with_kills("roster");
}
TEST_CASE("a run survives the end of a router") {
  run_with_kills("router");
}
TEST_CASE("a run survives the end of a registrar") {
  run_with_kills("registrar");
}
TEST_CASE("a run survives the end of a state keeper") {
  run_with_kills("state_keeper");
}
TEST_CASE("a run survives the end of a compute") {
  run_with_kills("compute");
}
TEST_CASE("a run survives the end of a matchmaking") {
  run_with_kills("matchmaking");
}
TEST_CASE("a run survives the end of an averager") {
  run_with_kills("averager");
}
TEST_CASE("a run survives the end of a conductor") {
  run_with_kills("conductor");
}

TEST_CASE("the end of a chunk's reducer costs no round") {
  test_world world;
  std::vector<std::unique_ptr<whole_peer>> peers;
  for (std::uint8_t i = 1; i <= 3; ++i) {
    for (std::uint8_t j = 1; j < i; ++j)
      world.network.delay(host(i), host(j), 20ms);
    peers.push_back(std::make_unique<whole_peer>(
        world, i,
        i == 1 ? std::vector<std::uint8_t>{} : std::vector<std::uint8_t>{1},
        run_length));
  }
  auto all = [&](auto condition) {
    return std::all_of(peers.begin(), peers.end(),
                       [&](auto& x) { return condition(*x); });
  };
  REQUIRE(world.run_until(
      [&] { return all([](auto& x) { return x.step() >= 3; }); }, 60s));
  auto victim = std::find_if(peers.begin(), peers.end(), [](auto& x) {
    return x->children.starts("chunk_reducer") > 0;
  });
  REQUIRE(victim != peers.end());
  auto& it = **victim;
  std::size_t ended = 0;
  for (int i = 0; i < 10 && !it.finished(); ++i) {
    auto starts = it.children.starts("chunk_reducer");
    world.run_until(
        [&] { return it.children.starts("chunk_reducer") > starts; }, 10s);
    it.children.kill("chunk_reducer");
    world.run_for(1ms);
  }
  for (auto& fault : it.observer->events("fault"))
    ended += field<std::string>(fault, "what") == "restarted chunk_reducer";
  CHECK(ended > 3);
  REQUIRE(world.run_until(
      [&] { return all([](auto& x) { return x.finished(); }); }, 180s));
  for (auto& x : peers) {
    CHECK(x->digest() == peers.front()->digest());
    for (auto& round : x->observer->events("round")) {
      CHECK(field<std::string>(round, "outcome") == "committed");
      CHECK_FALSE(field<bool>(round, "healed"));
    }
  }
}

TEST_CASE("a run survives accidents in any order") {
  // Ready actors run in an order of chance, lines are slow, and five times a
  // child ends, a connection breaks or a line is cut for a while.
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed); // Replays the failure.
    random_stream chance{seed};
    test_world world;
    std::vector<std::unique_ptr<whole_peer>> peers;
    auto any_host
        = [&] { return host(static_cast<std::uint8_t>(1 + chance.below(3))); };
    for (std::uint8_t i = 1; i <= 3; ++i) {
      for (std::uint8_t j = 1; j < i; ++j)
        world.network.delay(host(i), host(j), chance.below(40) * duration{1ms});
      peers.push_back(std::make_unique<whole_peer>(
          world, i,
          i == 1 ? std::vector<std::uint8_t>{} : std::vector<std::uint8_t>{1},
          run_length));
      peers.back()->system.shuffle(mix(seed, i));
    }
    world.run_for(3s);
    for (int accident = 0; accident < 5; ++accident) {
      world.run_for(chance.below(1500) * duration{1ms});
      auto& victim = *peers[chance.below(3)];
      auto a = any_host();
      auto b = any_host();
      switch (chance.below(4)) {
        case 0:
          world.network.break_oldest(a, b);
          break;
        case 1:
          world.network.cut(a, b);
          world.run_for(chance.below(3000) * duration{1ms});
          world.network.heal(a, b);
          break;
        default:
          victim.children.kill(
              trainers_children[chance.below(trainers_children.size())]);
      }
    }
    REQUIRE(world.run_until(
        [&] {
          // Islands may finish apart; meeting, they agree on one end.
          return std::all_of(peers.begin(), peers.end(), [&](auto& x) {
            return x->finished() && x->digest() == peers.front()->digest();
          });
        },
        600s));
    for (auto& x : peers) {
      CHECK(x->digest() == peers.front()->digest());
      CHECK(x->observer->last<peer_over>().problem.empty());
      x->leave();
    }
    world.run_for(1s);
    for (auto& x : peers)
      CHECK(x->running() == 0);
  }
}

TEST_CASE("on threads, a run survives the end of every child once") {
  memory_network network;
  caf::actor_system_config config;
  config.set("scheduler.max-threads", 2);
  caf::actor_system system{config};
  // Its letters are delivered until the peers have ended.
  memory_postman postman{network};
  struct {
    nursery children;
    peer_actor it;
  } peers[3];
  std::vector<fake<observer_actor>> observers;
  for (std::uint8_t i = 0; i < 3; ++i) {
    observers.emplace_back(system);
    auto c = tiny_peer(network, i + 1,
                       i == 0 ? std::vector<std::uint8_t>{}
                              : std::vector<std::uint8_t>{1},
                       60);
    c.batch_time
        = [](std::uint32_t samples) { return samples * duration{500us}; };
    c.child_started = peers[i].children.witness();
    peers[i].it = spawn_peer(system, std::move(c), observers[i].handle);
  }
  auto wait_for_step = [&](std::size_t i, std::uint64_t step) {
    return observers[i].heard->wait(
        [&] {
          auto told = observers[i]->events("step");
          return !told.empty()
                 && field<std::uint64_t>(told.back(), "step") >= step;
        },
        60s);
  };
  // One child every few steps, of one peer after the other.
  std::uint64_t step = 8;
  std::size_t whose = 0;
  for (auto& child : trainers_children) {
    CAPTURE(child);
    REQUIRE(wait_for_step(whose, step));
    peers[whose].children.kill(child);
    whose = (whose + 1) % 3;
    step += 5;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(observers[i].heard->wait(
        [&] { return observers[i]->count<peer_over>() != 0; }, 60s));
    CHECK(observers[i]->last<peer_over>().problem.empty());
    auto finished = observers[i]->events("finished");
    REQUIRE(finished.size() == 1);
    CHECK(field<std::string>(finished[0], "digest")
          == field<std::string>(observers[0]->events("finished")[0], "digest"));
  }
  for (auto& x : peers) {
    x.children.forget();
    caf::anon_send(x.it, leave_run{"finished"});
    caf::scoped_actor waiter{system};
    waiter->wait_for(x.it);
  }
}
