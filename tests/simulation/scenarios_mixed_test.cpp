/// Homes behind routers of every kind, and what their users hear.
#include <doctest/doctest.h>

#include "tests/simulation/trial.hpp"

using namespace potluck;
using simulation::trial;

TEST_CASE("homes of every kind come and go, and hubs die") {
  CHECK(trial{"tools/scenarios/mixed-homes.json", 0, 0, {}}.complaint(1, 4)
        == "");
}

TEST_CASE("who has only a first contact that averages nothing is told so") {
  auto what = load_scenario("tests/simulation/scenarios/hub-only.json");
  REQUIRE(what);
  what->groups.back().router = "symmetric"; // No hole leads anywhere.
  std::size_t told = 0;
  simulation::options how;
  how.log = [&](const std::string& line) {
    told += line.find("\"what\":\"alone\"") != std::string::npos
            && line.find("potluck bootstrap --run NAME") != std::string::npos;
  };
  simulation::world{*what, how}.run();
  CHECK(told >= 6);
}
