/// Scenarios of tools/scenarios, many seeds each: who packs what it sends.
/// With fewer steps than in the files.
#include <doctest/doctest.h>

#include "tests/simulation/trial.hpp"

using potluck::simulation::options;
using potluck::simulation::trial;
using potluck::simulation::world;

TEST_CASE("thin-lines holds for 12 seeds") {
  CHECK(trial{"tools/scenarios/thin-lines.json", 0, 25, {}}.complaint(1, 12)
        == "");
}

TEST_CASE("planned packing is as fast as int8, and learns as with float32") {
  auto loaded = potluck::load_scenario("tools/scenarios/thin-lines.json");
  REQUIRE(loaded);
  auto run = [&](const std::string& packing) {
    auto what = *loaded;
    what.faults.clear();
    what.run.push_back({"packing", packing});
    // Else those with thin uplinks rest where nothing is packed.
    options how;
    how.all_compute = true;
    auto result = world{what, how}.run();
    CHECK(result.passed);
    CHECK(result.steps == 40);
    return result;
  };
  auto plain = run("float32");
  auto coarse = run("int8");
  auto planned = run("auto");
  CHECK(planned.lasted < 1.03 * coarse.lasted);
  CHECK(1.3 * planned.lasted < plain.lasted);
  CHECK(planned.loss < 1.1 * plain.loss);
  CHECK(planned.loss < 0.7 * coarse.loss);
}
