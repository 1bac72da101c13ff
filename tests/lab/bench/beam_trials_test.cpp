#include "tools/lab/bench/beam_trials.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "tools/lab/bench/beam_world.hpp"

using namespace potluck;
using namespace potluck::bench;
using namespace std::chrono_literals;

namespace {

beam_options small(std::size_t nodes = 60) {
  beam_options x;
  x.nodes = nodes;
  x.grid = {8, 8};
  x.searches = 20;
  x.dials = false;
  return x;
}

} // namespace

TEST_CASE("a search in a network without failures finds the very best, at the "
          "price that the beam sets") {
  auto x = search_experts(small());
  CHECK(x.searches == 20);
  CHECK(x.exact == 1);
  CHECK(x.hosts == 1);
  // The layer, four rows, and four experts' hosts.
  CHECK(x.cold.look_ups == 9);
  CHECK(x.cold.messages >= 2 * 5 * x.cold.look_ups); // Five nodes each.
  CHECK(x.cold.hops >= 1);
  // Two rounds of look-ups, of one round trip each at least.
  CHECK(x.cold.median > 200ms);
  CHECK(x.cold.with_hosts > x.cold.median);
  CHECK(x.cold.p95 >= x.cold.median);
  // What the first search has found is not looked up again.
  CHECK(x.warm.look_ups < x.cold.look_ups);
  CHECK(x.warm.median < x.cold.median);
}

TEST_CASE("one seed is one history") {
  auto how = small();
  auto first = search_experts(how);
  auto second = search_experts(how);
  CHECK(first.cold.median == second.cold.median);
  CHECK(first.warm.messages == second.warm.messages);
  how.seed = 2;
  CHECK(search_experts(how).cold.median != first.cold.median);
}

TEST_CASE("who has to be dialled, or has vanished, costs a search time and no "
          "experts") {
  auto how = small();
  auto plain = search_experts(how);
  how.dials = true;
  CHECK(search_experts(how).cold.median > plain.cold.median + 100ms);
  how.dials = false;
  how.failed = 0.2;
  auto holes = search_experts(how);
  CHECK(holes.cold.median > plain.cold.median);
  CHECK(holes.exact > 0.9);
  CHECK(holes.hosts > 0.9);
}

TEST_CASE("a network that a look-up asks as a whole is no network to search") {
  CHECK_THROWS_AS(search_experts(small(20)), std::invalid_argument);
}

TEST_CASE("what was published is found from everywhere, until nobody who keeps "
          "it is left") {
  beam_world world({100, 50ms, true, 7});
  dht_record record;
  record.key = world.chance().draw<record_key>();
  record.subkey = "a";
  record.value = "b";
  record.lives_ms = 60'000;
  world.publish(3, {record});
  std::size_t found = 0;
  auto look_everywhere = [&] {
    found = 0;
    for (beam_world::node i = 0; i < world.size(); i += 10)
      world.look_up(i, record.key, [&](beam_world::finding x) {
        found += x.records.size();
        CHECK(x.answers <= x.requests);
      });
    world.run();
  };
  look_everywhere();
  CHECK(found == 10);
  CHECK(world.now() > time_point{});
  for (beam_world::node i = 0; i < world.size(); ++i)
    world.vanish(i);
  look_everywhere();
  CHECK(found < 10); // Those that keep it themselves.
}
