/// Scenarios in which nobody can dial a trainer: letters go through hubs.
#include <doctest/doctest.h>

#include "tests/simulation/trial.hpp"

using namespace potluck;
using simulation::trial;

TEST_CASE("six homes behind routers train together, with an auxiliary's help") {
  CHECK(trial{"tools/scenarios/hubs.json", 0, 10, {}}.complaint(1, 6) == "");
}

TEST_CASE("six homes with nothing but a first contact are one run") {
  auto what = load_scenario("tests/simulation/scenarios/hub-only.json");
  REQUIRE(what);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::size_t founded = 0, agreed = 0, relayed = 0;
    simulation::options how;
    how.seed = seed;
    how.log = [&](const std::string& line) {
      const auto has = [&](const char* text) {
        return line.find(text) != std::string::npos;
      };
      agreed += has("\"event\":\"charter\"");
      founded += has("\"event\":\"charter\"") && has("\"founded\":true");
      relayed += has("\"event\":\"join\"") && has("by way of a hub");
    };
    simulation::world{*what, how}.run();
    CAPTURE(seed);
    CHECK(founded == 1);
    CHECK(agreed == 6);
    CHECK(relayed >= 30);
  }
}
