/// Scenarios of tools/scenarios, many seeds each: what lasts.
/// With fewer steps than in the files, and some with fewer peers.
#include <doctest/doctest.h>

#include "tests/simulation/trial.hpp"

using potluck::simulation::trial;

// Left out: hostile, since nobody bans who lies about means and the run makes
// no step any more. And
// long-life takes seconds a seed.

TEST_CASE("partition holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/partition.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("steady holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/steady.json", 0, 25, {}}.complaint(1, 39) == "");
}

TEST_CASE("long-life holds for one seed") {
  CHECK(trial{"tools/scenarios/long-life.json", 6, 10, {}}.complaint(1, 1)
        == "");
}
