/// Scenarios in which groups are redrawn for every step, or could be, with
/// fewer steps than in the files.
#include <doctest/doctest.h>

#include "runtime/moshpit/redraw_latch.hpp"
#include "tests/simulation/trial.hpp"

using potluck::redraw_latch;
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

// They begin as one, and all hold the same until their plans have decided,
// sooner or later: cells fill by chance.
TEST_CASE("homes-apart goes over to redrawn groups for 2 seeds") {
  trial apart{"tools/scenarios/homes-apart.json", 0, 30, {}};
  for (std::uint64_t seed : {2, 4}) {
    CAPTURE(apart.command(seed));
    auto x = apart.run(seed);
    CHECK(x.passed);
    CHECK(x.first_redrawn > redraw_latch::notice);
    CHECK(x.first_redrawn < 28);
    CHECK(x.drift > 0);
    CHECK(x.drift < x.most_drift);
    CHECK(x.splits == 0);
  }
}

TEST_CASE("homes-together stays exact for 4 seeds, NAT or not") {
  trial together{"tests/simulation/scenarios/homes-together.json", 0, 24, {}};
  CHECK(together.complaint(1, 3) == "");
  auto x = together.run(4);
  CHECK(x.passed);
  CHECK(x.first_redrawn == 0);
  CHECK(x.drift == 0);
}
