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
