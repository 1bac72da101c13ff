/// Scenarios in which groups are redrawn for every step, or not everybody
/// reaches everybody, with fewer steps than in the files.
#include <doctest/doctest.h>

#include "tests/simulation/trial.hpp"

using potluck::simulation::trial;

// Seconds a seed. Half of them cannot reach each other: one state each, and
// near the others'.
TEST_CASE("moshpit holds for 15 seeds") {
  trial redrawn{"tools/scenarios/moshpit.json", 0, 20, {}};
  CHECK(redrawn.complaint(1, 15) == "");
  auto last = redrawn.run(16);
  CHECK(last.drift > 0); // Else nothing was compared.
  CHECK(last.drift < last.most_drift);
}

// Two levels, a third of them behind NAT.
TEST_CASE("homes-together holds for 4 seeds") {
  trial together{"tests/simulation/scenarios/homes-together.json", 0, 24, {}};
  CHECK(together.complaint(1, 4) == "");
}
