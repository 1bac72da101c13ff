#include "actors/history_keeper.hpp"

#include <doctest/doctest.h>

#include "tests/actors/node.hpp"
#include "tests/runtime/history/signed_world.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// A step that these nodes have made, and signed.
signed_step made_step(std::uint64_t number,
                      std::initializer_list<std::uint8_t> makers,
                      char line = 'a') {
  auto x = history_peers::made_step(number, {1}, line);
  x.makers.clear();
  for (auto maker : makers)
    x.makers.push_back({peer(maker), 10, {}});
  for (auto& maker : x.makers)
    maker.by = sign(x, *made_up(maker.id));
  return x;
}

/// A node with a history keeper.
struct voter : node {
  voter(test_world& world, std::uint8_t number,
        std::vector<std::uint8_t> seeds = {}, role as = role::trainer,
        std::set<peer_id> trusted = {})
      : node(world, number, std::move(seeds), as) {
    c.is_bootstrap = as == role::bootstrap;
    c.own.run = c.is_bootstrap ? "" : "soup";
    c.own.trusted = std::move(trusted);
    c.own.keeps = as != role::trainer;
    c.own.how = made_up(id);
    start();
  }
  void start() {
    replace(&wiring::history_keeper, (*system).spawn(history_keeper, c));
  }
  void makes(const signed_step& x) {
    caf::anon_send(wired.history_keeper, step_signed{x});
  }
  bool hears_roots() const {
    return conductor->count<roots_known>() > 0;
  }

  history_keeper_config c;
};

} // namespace

TEST_CASE("a newcomer hears from its bootstrap by whom to go") {
  test_world world;
  voter hub{world, 7, {}, role::bootstrap};
  voter a{world, 1, {7}};
  a.makes(made_step(9, {1, 2}));
  world.run_for(5s);
  // A liar has signed more.
  voter liar{world, 5, {7}};
  liar.makes(made_step(1000, {5, 6}, 'x'));
  world.run_for(5s);
  voter late{world, 3, {5, 7, 1}, role::trainer, {peer(7)}};
  REQUIRE(world.run_until([&] { return late.hears_roots(); }, 3s));
  const auto roots = late.conductor->last<roots_known>().makers;
  CHECK(roots.size() == 2);
  CHECK(roots.count(peer(1)) == 1);
  const auto said = late.observer->events("history");
  REQUIRE(said.size() == 1);
  // Restarted, it still has what it heard, and shows it.
  late.start();
  world.run_for(1s);
  CHECK(late.c.kept->at("soup").newest().step == 9);
}

TEST_CASE("a crowd of made-up runs takes no run's place at a bootstrap") {
  test_world world;
  voter hub{world, 7, {}, role::bootstrap};
  hub.c.places = 2;
  hub.start();
  node first{world, 11, {7}, role::trainer, "made up"};
  node second{world, 12, {7}, role::trainer, "made up, too"};
  REQUIRE(world.run_until([&] { return hub.companions() == 2; }, 3s));
  voter a{world, 1, {7}};
  voter b{world, 2, {7}};
  a.makes(made_step(9, {1, 2}));
  b.makes(made_step(9, {1, 2}));
  REQUIRE(world.run_until(
      [&] {
        const auto kept = hub.c.kept->find("soup");
        return kept != hub.c.kept->end() && !kept->second.empty();
      },
      15s));
  voter late{world, 3, {7}, role::trainer, {peer(7)}};
  REQUIRE(world.run_until([&] { return late.hears_roots(); }, 3s));
  CHECK(late.conductor->last<roots_known>().makers.size() == 2);
}

TEST_CASE("whose invitation names peers without a history hears that at once") {
  test_world world;
  voter hub{world, 7, {}, role::bootstrap};
  voter a{world, 1, {7}, role::trainer, {peer(7)}};
  REQUIRE(world.run_until([&] { return a.hears_roots(); }, 3s));
  CHECK(a.conductor->last<roots_known>().makers.empty());
  CHECK(a.observer->events("history").empty());
}

TEST_CASE("an auxiliary keeps what the run's members show, and shows it") {
  test_world world;
  voter a{world, 1};
  a.makes(made_step(9, {1, 2}));
  voter helper{world, 8, {1}, role::auxiliary};
  REQUIRE(
      world.run_until([&] { return !(*helper.c.kept)["soup"].empty(); }, 15s));
  CHECK(helper.conductor->count<roots_known>() == 0);
  // It goes on with its run as that does.
  a.makes(made_step(12, {1, 2, 4}));
  REQUIRE(world.run_until(
      [&] { return (*helper.c.kept)["soup"].newest().step == 12; }, 15s));
}
