/// Every kind of actor, in every kind of peer, ends at random moments; trainers
/// run out of memory; peers do not get off the ground. Runs go on, or end with
/// a sentence, and nothing is left over.
#include <doctest/doctest.h>

#include <algorithm>
#include <new>

#include "actors/peer.hpp"
#include "runtime/membership/restart_budget.hpp"
#include "tests/actors/whole_peer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t enough_steps = 40;

/// Runs out of memory when `fails` says so.
class starved_trainer : public trainer {
public:
  explicit starved_trainer(std::function<bool()> fails)
      : fails_(std::move(fails)) {
  }
  const model_layout& layout() const override {
    return inner_.layout();
  }
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override {
    auto result = inner_.accumulate(request, parameters, gradient, cancelled);
    if (fails_())
      throw std::bad_alloc{}; // With the gradient half written.
    return result;
  }
  evaluation evaluate(const float* parameters, std::uint64_t order_seed,
                      std::uint64_t samples) override {
    return inner_.evaluate(parameters, order_seed, samples);
  }

private:
  tiny_trainer inner_;
  std::function<bool()> fails_;
};

/// A bootstrap peer, three trainers, and an auxiliary.
struct town {
  explicit town(std::function<bool()> out_of_memory = nullptr) {
    for (std::uint8_t i = 1; i <= 5; ++i) {
      auto c = tiny_peer(world.network, i,
                         i == 1 ? std::vector<std::uint8_t>{}
                                : std::vector<std::uint8_t>{1},
                         enough_steps);
      if (i == 1)
        c.role = role::bootstrap;
      if (i == 5)
        c.role = role::auxiliary;
      if (i == 2 && out_of_memory)
        c.make_trainer = [out_of_memory](const charter&) {
          return std::make_unique<starved_trainer>(out_of_memory);
        };
      peers.push_back(std::make_unique<whole_peer>(world, std::move(c)));
    }
  }
  bool finished() const {
    for (std::size_t i = 1; i <= 3; ++i)
      if (!peers[i]->finished() || peers[i]->digest() != peers[1]->digest())
        return false;
    return true;
  }
  void check_that_nothing_is_left() {
    for (auto& x : peers)
      x->leave();
    world.run_for(limits::leave_patience + limits::shutdown_grace);
    for (auto& x : peers)
      CHECK(x->running() == 0);
    CHECK(world.network.open_connections() == 0);
  }

  test_world world;
  std::vector<std::unique_ptr<whole_peer>> peers;
};

const std::vector<std::string> of_bootstraps{"gateway", "roster", "router",
                                             "session"};
const std::vector<std::string> of_auxiliaries{
    "gateway",  "roster",    "router",  "registrar",    "matchmaking",
    "averager", "conductor", "session", "chunk_reducer"};
const std::vector<std::string> of_trainers{
    "gateway",      "roster",  "router",        "registrar",
    "state_keeper", "compute", "matchmaking",   "averager",
    "conductor",    "session", "chunk_reducer", "cell"};

const std::vector<std::string>& kinds(std::size_t whose) {
  return whose == 0 ? of_bootstraps : whose == 4 ? of_auxiliaries : of_trainers;
}

} // namespace

TEST_CASE("a run survives the end of any actor of any peer at any moment") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed); // Replays the failure.
    random_stream chance{seed};
    town x;
    for (std::size_t i = 0; i < x.peers.size(); ++i)
      x.peers[i]->system.shuffle(mix(seed, i));
    x.world.run_for(1s);
    for (int accident = 0; accident < 8; ++accident) {
      x.world.run_for(chance.below(900) * duration{1ms});
      auto whose = chance.below(x.peers.size());
      auto& all = kinds(whose);
      auto& kind = all[chance.below(all.size())];
      if (x.peers[whose]->children.starts(kind) > 0)
        x.peers[whose]->children.kill(kind);
    }
    REQUIRE(x.world.run_until([&] { return x.finished(); }, 600s));
    for (std::size_t i = 1; i <= 3; ++i)
      CHECK(x.peers[i]->observer->last<peer_over>().problem.empty());
    x.check_that_nothing_is_left();
  }
}

TEST_CASE("every kind of actor is there to be ended") {
  town x;
  REQUIRE(x.world.run_until([&] { return x.finished(); }, 600s));
  for (std::size_t whose = 0; whose < x.peers.size(); ++whose)
    for (auto& kind : kinds(whose)) {
      CAPTURE(whose);
      CAPTURE(kind);
      // Who averages is the planner's choice.
      if (kind != "chunk_reducer")
        CHECK(x.peers[whose]->children.starts(kind) > 0);
    }
  CHECK(std::any_of(x.peers.begin(), x.peers.end(), [](auto& p) {
    return p->children.starts("chunk_reducer") > 0;
  }));
}

TEST_CASE("a run survives a trainer that runs out of memory now and then") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed); // Replays the failure.
    auto chance = std::make_shared<random_stream>(seed);
    auto failures = std::make_shared<std::size_t>(0);
    town x{[=] {
      if (*failures >= limits::restarts - 1 || chance->below(40) != 0)
        return false;
      ++*failures;
      return true;
    }};
    REQUIRE(x.world.run_until([&] { return x.finished(); }, 600s));
    // Each costs the gradient that was accumulated, and nothing else.
    CHECK(*failures > 0);
    CHECK(x.peers[1]->observer->events("fault").size() >= *failures);
    CHECK(x.peers[1]->children.starts("compute")
          == static_cast<int>(1 + *failures));
    CHECK(x.peers[1]->observer->last<peer_over>().problem.empty());
    x.check_that_nothing_is_left();
  }
}

TEST_CASE("a trainer that never gets its memory leaves, and the run goes on") {
  town x{[] { return true; }};
  REQUIRE(x.world.run_until([&] { return x.peers[1]->over(); }, 60s));
  auto end = x.peers[1]->observer->last<peer_over>();
  CHECK(end.problem.find("compute") != std::string::npos);
  CHECK(end.problem.find("bad_alloc") != std::string::npos);
  x.world.run_for(limits::shutdown_grace);
  CHECK(x.peers[1]->running() == 0);
  REQUIRE(x.world.run_until(
      [&] { return x.peers[2]->finished() && x.peers[3]->finished(); }, 600s));
  CHECK(x.peers[2]->digest() == x.peers[3]->digest());
  x.check_that_nothing_is_left();
}

TEST_CASE("a peer that cannot make its trainer says so and leaves nothing") {
  for (int how : {0, 1}) {
    test_world world;
    auto c = tiny_peer(world.network, 1, {}, enough_steps);
    c.make_trainer = [how](const charter&) -> std::unique_ptr<trainer> {
      if (how == 0)
        throw std::bad_alloc{};
      throw 7; // Not even an exception of the library.
    };
    whole_peer x{world, std::move(c)};
    REQUIRE(world.run_until([&] { return x.over(); }, 10s));
    auto end = x.observer->last<peer_over>();
    CHECK(end.problem.find("compute failed too often") != std::string::npos);
    world.run_for(limits::shutdown_grace);
    CHECK(x.running() == 0);
  }
}

TEST_CASE("a peer that cannot make its transport says so and leaves nothing") {
  test_world world;
  auto c = tiny_peer(world.network, 1, {}, enough_steps);
  c.make_transport = []() -> std::unique_ptr<transport> {
    throw std::runtime_error("no sockets are left");
  };
  whole_peer x{world, std::move(c)};
  REQUIRE(world.run_until([&] { return x.over(); }, 10s));
  auto end = x.observer->last<peer_over>();
  CHECK(end.problem.find("gateway failed too often") != std::string::npos);
  world.run_for(limits::shutdown_grace);
  CHECK(x.running() == 0);
}

TEST_CASE("a peer on a port in use leaves nothing when told to leave") {
  test_world world;
  whole_peer first{world, 1, {}, enough_steps};
  world.run_for(1s);
  whole_peer second{world, 1, {}, enough_steps};
  REQUIRE(world.run_until([&] { return second.over(); }, 10s));
  second.leave();
  world.run_for(limits::leave_patience + limits::shutdown_grace);
  CHECK(second.running() == 0);
  CHECK_FALSE(first.over());
}
