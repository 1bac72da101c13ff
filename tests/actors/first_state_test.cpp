/// Runs whose first state is their founder's, and not what model and seed give.
#include <doctest/doctest.h>

#include "tests/actors/whole_peer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

std::shared_ptr<training_state> values_of(std::uint64_t seed) {
  return std::make_shared<training_state>(
      initial_state(tiny_trainer{}.layout(), seed));
}

struct run_of_values {
  /// @param seed Of what this peer would begin with; the first one founds.
  whole_peer& add(std::uint8_t number, std::uint64_t seed,
                  std::uint64_t steps = 20) {
    auto c = tiny_peer(world.network, number,
                       number == 1 ? std::vector<std::uint8_t>{}
                                   : std::vector<std::uint8_t>{1},
                       steps);
    c.state = values_of(seed);
    c.propose = [steps, first = to_string(c.state->recent.front())] {
      auto s = tiny_charter(steps, 64).settings();
      s.initial = first;
      return charter{s, ""};
    };
    auto& place = peers[number];
    c.state_shown = [this, number](const training_state& x, bool) {
      if (x.step == 0)
        firsts[number] = x.recent.front();
    };
    place = std::make_unique<whole_peer>(world, std::move(c));
    return *place;
  }
  bool all_finish(duration patience) {
    return world.run_until(
        [&] {
          return std::all_of(peers.begin(), peers.end(),
                             [](auto& x) { return x.second->finished(); });
        },
        patience);
  }

  test_world world;
  std::map<std::uint8_t, std::unique_ptr<whole_peer>> peers;
  std::map<std::uint8_t, digest> firsts; ///< Of step 0, last held.
};

} // namespace

TEST_CASE("a peer with other values trains with its founder's") {
  run_of_values x;
  x.add(1, 7);
  x.add(2, 8);
  x.add(3, 9);
  REQUIRE(x.all_finish(5min));
  CHECK(x.peers[1]->digest() == x.peers[2]->digest());
  CHECK(x.peers[1]->digest() == x.peers[3]->digest());
  for (std::uint8_t number : {2, 3}) {
    auto downloads = x.peers[number]->observer->events("state_download");
    INFO(x.peers[number]->log());
    REQUIRE(downloads.size() >= 1);
    CHECK(field<bool>(downloads[0], "whole"));
    if (field<std::uint64_t>(downloads[0], "step") == 0)
      CHECK(x.firsts[number] == values_of(7)->recent.front());
  }
}

TEST_CASE("a peer with the founder's values needs no download") {
  run_of_values x;
  x.add(1, 7);
  x.add(2, 7);
  REQUIRE(x.all_finish(5min));
  CHECK(x.peers[1]->digest() == x.peers[2]->digest());
  for (auto& e : x.peers[2]->observer->events("state_download"))
    CHECK(field<std::uint64_t>(e, "step") > 0);
}

TEST_CASE("without anybody who has the run's state nothing is trained") {
  run_of_values x;
  auto& founder = x.add(1, 7, 1000);
  auto& second = x.add(2, 8, 1000);
  REQUIRE(x.world.run_until([&] { return second.step() >= 2; }, 1min));
  founder.leave();
  second.leave();
  x.world.run_for(5s);
  // The charter is known, and its first state is not.
  auto c = tiny_peer(x.world.network, 3, {}, 1000);
  auto s = tiny_charter(1000, 64).settings();
  s.initial = to_string(values_of(7)->recent.front());
  c.known = charter{s, ""};
  c.state = values_of(9);
  whole_peer alone{x.world, std::move(c)};
  x.world.run_for(1min);
  CHECK(alone.step() == 0);
  CHECK_FALSE(alone.over());
  REQUIRE(alone.observer->count<run_status>() > 0);
  CHECK(alone.observer->last<run_status>().trouble.find("began with")
        != std::string::npos);
}
