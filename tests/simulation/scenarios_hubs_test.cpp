/// Scenarios in which nobody can dial a trainer: letters go through hubs.
#include <algorithm>
#include <map>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/simulation/trial.hpp"

using namespace potluck;
using namespace std::chrono_literals;
using simulation::trial;

TEST_CASE("six homes behind routers train together, with an auxiliary's help") {
  CHECK(trial{"tools/scenarios/hubs.json", 0, 10, {}}.complaint(1, 6) == "");
}

TEST_CASE("eight homes behind one hub average nearly as fast as can be") {
  auto what = load_scenario("tools/scenarios/one-hub.json");
  REQUIRE(what);
  // Eight gradients in and eight means out, at the hub's 16 Mbit/s each way.
  const auto bound = 8 * 4 * static_cast<double>(what->model_values) / 2e6;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    std::size_t rounds = 0;
    double slowest = 0;
    simulation::options how;
    how.seed = seed;
    how.log = [&](const std::string& line) {
      const auto x = nlohmann::json::parse(line);
      // Where a member is lost, its part comes again, from others.
      if (x.at("event") != "round" || x.at("members") != 9
          || x.at("outcome") != "committed" || x.at("healed") == true)
        return;
      ++rounds;
      slowest = std::max(slowest, x.at("seconds").get<double>());
    };
    const auto result = simulation::world{*what, how}.run();
    CAPTURE(seed);
    CHECK(result.violations.empty());
    CHECK(rounds >= std::size_t{9} * 15); // Of 20 steps, at each member.
    CHECK(slowest <= 1.15 * bound);
  }
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

namespace {

/// Of each home the trainers that it is connected with, and how, as the log
/// says.
struct lines {
  std::map<std::size_t, std::map<std::string, bool>> relayed;
  std::map<std::string, std::size_t> home_of;
  /// How often a circuit between two homes ended, and a direct line did.
  std::size_t circuits_lost = 0, lines_lost = 0;
  std::map<std::size_t, std::size_t> step_of; ///< The last one of each home.

  void read(const std::string& line) {
    const auto x = nlohmann::json::parse(line);
    const auto name = x.at("event").get<std::string>();
    const auto home = x.at("node").get<std::size_t>();
    const auto peer = x.value("peer", "");
    auto& known = relayed[home];
    if (name == "listening")
      home_of[peer] = home;
    else if (name == "join")
      known[peer] = x.at("address") == "by way of a hub";
    else if (name == "step" || name == "state_download") // Made, or fetched.
      step_of[home] = x.at("step").get<std::size_t>();
    else if (name == "way")
      known[peer] = x.at("relayed").get<bool>();
    else if (auto was = known.find(peer);
             name == "departure" && was != known.end()) {
      if (home_of[peer] != 0) // All can dial the first contact.
        ++(was->second ? circuits_lost : lines_lost);
      known.erase(was);
    }
  }
  /// Trainers that `home` is connected with.
  std::map<std::size_t, bool> of(std::size_t home) {
    std::map<std::size_t, bool> result;
    for (const auto& [peer, circuit] : relayed[home])
      if (home_of.at(peer) != 0)
        result[home_of.at(peer)] = circuit;
    return result;
  }
};

} // namespace

TEST_CASE("a hub that makes up its sums is found out, and the run goes on") {
  // Nobody has a line to all trainers: numbers have to do.
  const std::string file = "tests/simulation/scenarios/bent-hub.json";
  CHECK(trial{file}.complaint(1, 2) == "");
  const auto unchecked = trial{file, 0, 0, safeguard::audit}.run(1);
  CHECK_FALSE(unchecked.violations.empty());
}

TEST_CASE("homes whose routers keep a port for all meet halfway") {
  auto what = load_scenario("tests/simulation/scenarios/holes.json");
  REQUIRE(what);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    lines x;
    bool soon_enough = true;
    simulation::options how;
    how.seed = seed;
    how.log = [&](const std::string& line) {
      if (soon_enough)
        x.read(line);
    };
    how.watch = [&](const simulation::world& w) {
      return soon_enough = w.now() < 3min;
    };
    simulation::world{*what, how}.run();
    CAPTURE(seed);
    std::size_t halfway = 0;
    for (std::size_t home = 1; home <= 6; ++home)
      for (const auto& [other, circuit] : x.of(home)) {
        CAPTURE(home);
        const auto shown = other;
        CAPTURE(shown);
        CHECK(circuit == (home > 4 || other > 4));
        halfway += !circuit;
      }
    CHECK(halfway == 12); // Each of the usual homes with all others.
  }
}

TEST_CASE(
    "where the only hub dies, a trainer with an open port keeps the run") {
  auto what = load_scenario("tests/simulation/scenarios/hub-dies.json");
  REQUIRE(what);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    lines x;
    std::map<std::size_t, std::size_t> before;
    bool soon_enough = true;
    simulation::options how;
    how.seed = seed;
    how.log = [&](const std::string& line) {
      if (soon_enough)
        x.read(line);
    };
    how.watch = [&](const simulation::world& w) {
      if (w.now() < 2min) // It dies then.
        before = x.step_of;
      return soon_enough = w.now() < 3min;
    };
    simulation::world{*what, how}.run();
    CAPTURE(seed);
    CHECK(x.lines_lost == 0);
    const auto others = x.of(1);
    CHECK(others.size() == 4);
    for (std::size_t home = 1; home <= 5; ++home) {
      CAPTURE(home);
      CHECK(x.step_of[home] > before[home]);
      if (home > 1)
        CHECK(others.count(home) == 1);
    }
  }
}
