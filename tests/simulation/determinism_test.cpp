/// One seed, one history.
#include <doctest/doctest.h>

#include "tests/simulation/trial.hpp"

using potluck::simulation::trial;

TEST_CASE("the same seed gives the same log, another seed another one") {
  for (auto name : {"matchmaking-crashes", "joining", "equivocator"}) {
    CAPTURE(name);
    trial run{"tests/simulation/scenarios/" + std::string{name} + ".json"};
    auto first = run.run(7);
    auto again = run.run(7);
    CHECK_FALSE(first.log.empty());
    CHECK(first.log == again.log);
    CHECK(first.history == again.history);
    CHECK(first.messages == again.messages);
    CHECK_FALSE(run.run(8).log == first.log);
  }
}

TEST_CASE("a crowd has the same history in any number of threads") {
  auto crowd = potluck::load_scenario("tools/scenarios/crowd.json");
  REQUIRE(crowd);
  auto few = crowd->scaled_to(260);
  REQUIRE(few);
  // Not to the end: they join, and the first steps begin.
  few->lasts = std::chrono::seconds{20};
  few->expects.finishes = false;
  potluck::simulation::options how;
  how.seed = 3;
  how.weightless = true;
  auto alone = potluck::simulation::world{*few, how}.run();
  CHECK(alone.most_peers > 60);
  CHECK(alone.messages > 100'000);
  for (auto threads : {2u, 3u}) {
    CAPTURE(threads);
    how.threads = threads;
    auto shared = potluck::simulation::world{*few, how}.run();
    CHECK(shared.log == alone.log);
    CHECK(shared.messages == alone.messages);
    CHECK(shared.network.bytes_sent == alone.network.bytes_sent);
    CHECK(shared.violations == alone.violations);
  }
}
