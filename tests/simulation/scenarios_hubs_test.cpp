/// Scenarios in which nobody can dial a trainer: letters go through hubs.
#include <map>
#include <set>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/simulation/trial.hpp"

using namespace potluck;
using namespace std::chrono_literals;
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

TEST_CASE("homes whose routers keep a port for all meet halfway") {
  auto what = load_scenario("tests/simulation/scenarios/holes.json");
  REQUIRE(what);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    // Of each home the trainers that it is connected with, and how.
    std::map<std::size_t, std::map<std::string, bool>> relayed;
    std::map<std::string, std::size_t> home_of;
    bool soon_enough = true;
    simulation::options how;
    how.seed = seed;
    how.log = [&](const std::string& line) {
      const auto x = nlohmann::json::parse(line);
      const auto name = x.at("event").get<std::string>();
      const auto home = x.at("node").get<std::size_t>();
      const auto peer = x.value("peer", "");
      if (!soon_enough)
        return;
      if (name == "listening")
        home_of[peer] = home;
      else if (name == "join")
        relayed[home][peer] = x.at("address") == "by way of a hub";
      else if (name == "way")
        relayed[home][peer] = x.at("relayed").get<bool>();
      else if (name == "departure")
        relayed[home].erase(peer);
    };
    how.watch = [&](const simulation::world& x) {
      return soon_enough = x.now() < 3min;
    };
    simulation::world{*what, how}.run();
    CAPTURE(seed);
    std::size_t halfway = 0;
    for (std::size_t home = 1; home <= 6; ++home)
      for (const auto& [peer, circuit] : relayed[home]) {
        const auto other = home_of.at(peer);
        if (other == 0)
          continue; // All can dial the first contact.
        CAPTURE(home);
        CAPTURE(other);
        CHECK(circuit == (home > 4 || other > 4));
        halfway += !circuit;
      }
    CHECK(halfway == 12); // Each of the usual homes with all others.
  }
}
