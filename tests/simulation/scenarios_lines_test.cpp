/// Scenarios of tools/scenarios, many seeds each: lines and clocks.
/// With fewer steps than in the files, and some with fewer peers.
#include <doctest/doctest.h>

#include "tests/simulation/trial.hpp"

using potluck::simulation::trial;

TEST_CASE("corrupt-lines holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/corrupt-lines.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("deaf-peers holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/deaf-peers.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("flaky-lines holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/flaky-lines.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("long-lines holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/long-lines.json", 0, 12, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("satellite holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/satellite.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("two leaders that cannot reach each other rule the same") {
  CHECK(
      trial{"tools/scenarios/satellite.json", 0, 0, {}}.complaint(261386420, 1)
      == "");
}

TEST_CASE("skewed-clocks holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/skewed-clocks.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("impostors holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/impostors.json", 0, 25, {}}.complaint(1, 39)
        == "");
}
