/// Scenarios of tools/scenarios, many seeds each: who comes, goes and stands
/// still. With fewer steps than in the files, and some with fewer peers.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/simulation/trial.hpp"

using namespace potluck;
using simulation::trial;

// With so few peers all of them can be away at once: who comes back then founds
// the run anew.
TEST_CASE("churn holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/churn.json", 9, 12, {}}.complaint(1, 39) == "");
}

TEST_CASE("join-storm holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/join-storm.json", 4, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("first-alone holds for 39 seeds, and all get in with the first") {
  const std::string file = "tools/scenarios/first-alone.json";
  CHECK(trial{file, 0, 20, {}}.complaint(1, 39) == "");
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    simulation::options how;
    how.seed = seed;
    std::uint64_t first_of_all = 0;
    how.log = [&](const std::string& line) {
      const auto x = nlohmann::json::parse(line);
      if (first_of_all == 0 && x.at("event") == "step" && x.at("peers") == 4)
        first_of_all = x.at("step");
    };
    simulation::world{*load_scenario(file), how}.run();
    CAPTURE(seed);
    CHECK(first_of_all > 0);
    CHECK(first_of_all <= 16);
  }
}

TEST_CASE("slow-peers holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/slow-peers.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("stopped-peers holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/stopped-peers.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("experts holds for 20 seeds") {
  trial experts{"tools/scenarios/experts.json", 0, 0, {}};
  CHECK(experts.complaint(1, 20) == "");
  // Else nothing was shown of what happens when they change hosts.
  CHECK(experts.run(1).expert_moves > 0);
  // A guard with an older replica did not hear that another one had taken the
  // expert over.
  CHECK(experts.complaint(12225630, 1) == "");
}

TEST_CASE("chains holds for six seeds") {
  CHECK(trial{"tools/scenarios/chains.json", 0, 0, {}}.complaint(1, 6) == "");
}

TEST_CASE("full-cells holds for six seeds") {
  CHECK(trial{"tools/scenarios/full-cells.json", 0, 6, {}}.complaint(1, 6)
        == "");
}

// Forty trainers each: two seconds a seed.
TEST_CASE("who loses its sponsors as the others finish makes no second end") {
  CHECK(trial{"tools/scenarios/cells.json", 0, 0, {}}.complaint(674799883, 1)
        == "");
}

TEST_CASE("cells holds for six seeds") {
  CHECK(trial{"tools/scenarios/cells.json", 0, 8, {}}.complaint(1, 6) == "");
}

// Before peers found out that nobody can dial them, two behind NAT in one group
// waited for each other: a group of the usual size hardly made a step.
TEST_CASE("homes holds for 20 seeds") {
  CHECK(trial{"tools/scenarios/homes.json", 0, 15, {}}.complaint(1, 20) == "");
}

TEST_CASE("routers holds for ten seeds") {
  CHECK(trial{"tools/scenarios/routers.json", 0, 15, {}}.complaint(1, 10)
        == "");
}

TEST_CASE("campus holds for 20 seeds") {
  CHECK(trial{"tools/scenarios/campus.json", 0, 25, {}}.complaint(1, 20) == "");
}
