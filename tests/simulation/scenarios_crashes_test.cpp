/// Scenarios of tools/scenarios, many seeds each: what ends, or ends in part.
/// With fewer steps than in the files, and some with fewer peers.
#include <doctest/doctest.h>

#include "tests/simulation/trial.hpp"

using potluck::simulation::trial;

// Chance had nine actors of one peer fail within a minute: it gives up then, as
// its supervisor's budget says, and the others go on.
TEST_CASE("a peer may give up when more fails than its supervisor restarts") {
  CHECK(trial{"tools/scenarios/actor-crashes.json"}.complaint(630965411, 1)
        == "");
}

TEST_CASE("actor-crashes holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/actor-crashes.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("full-disks holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/full-disks.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("rot holds for 20 seeds, and who finds a rotten checkpoint says so") {
  const trial rot{"tools/scenarios/rot.json", 0, 60, {}};
  CHECK(rot.complaint(1, 20) == "");
  auto what = potluck::load_scenario(rot.file);
  REQUIRE(what);
  potluck::simulation::options how;
  std::size_t refused = 0;
  how.log = [&](const std::string& line) {
    refused += line.find("\"checkpoint_refused\"") != std::string::npos;
  };
  INFO(rot.command(how.seed));
  potluck::simulation::world{*what, how}.run();
  CHECK(refused > 0);
}

TEST_CASE("kill-half holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/kill-half.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("power-cuts holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/power-cuts.json", 0, 25, {}}.complaint(1, 39)
        == "");
}
