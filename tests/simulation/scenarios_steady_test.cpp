/// Scenarios of tools/scenarios, many seeds each: what lasts.
/// With fewer steps than in the files, and some with fewer peers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/simulation/trial.hpp"

using namespace potluck;
using simulation::trial;

namespace {

/// With this seed its id is the smallest: it leads the first step.
constexpr std::uint64_t greedy_leads = 6;

} // namespace

// hostile, vandals and long-life take seconds a seed.

TEST_CASE("partition holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/partition.json", 0, 25, {}}.complaint(1, 39)
        == "");
}

TEST_CASE("steady holds for 39 seeds") {
  CHECK(trial{"tools/scenarios/steady.json", 0, 25, {}}.complaint(1, 39) == "");
}

TEST_CASE("vandals holds for six seeds") {
  CHECK(trial{"tools/scenarios/vandals.json", 0, 25, {}}.complaint(1, 6) == "");
}

TEST_CASE("who was lied about forms no second group for the same step") {
  CHECK(trial{"tools/scenarios/vandals.json", 0, 0, {}}.complaint(686480127, 1)
        == "");
}

TEST_CASE("who claims 2^40 samples, or to be a step behind, costs the others a "
          "fifth of their speed at most") {
  const auto rate
      = [](const std::string& name, std::uint64_t seed, bool honest) {
          auto what = *load_scenario("tools/scenarios/" + name + ".json");
          what.run.push_back({"steps", "100"});
          if (honest)
            what.faults.clear();
          simulation::options how;
          how.seed = seed;
          const auto x = simulation::world{what, how}.run();
          CHECK(x.passed);
          return static_cast<double>(x.steps) / to_seconds(x.last_step);
        };
  for (const auto* name : {"boasters", "laggards"})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(name);
      CAPTURE(seed);
      CHECK(rate(name, seed, false) > 0.8 * rate(name, seed, true));
    }
}

TEST_CASE("a leader that counts 256 times its samples wins no step by it, and "
          "holds few up") {
  std::size_t refused = 0;
  double least_share = 1; // Of an honest trainer, in any step.
  simulation::options how;
  how.seed = greedy_leads;
  how.log = [&](const std::string& line) {
    const auto x = nlohmann::json::parse(line);
    refused += x["event"] == "fault" && x["what"] == "refused a contract";
    if (x["event"] == "step" && x["node"] != 1 && x["share"] > 0)
      least_share = std::min<double>(least_share, x["share"]);
  };
  auto what = *load_scenario("tools/scenarios/greedy-leader.json");
  what.run.push_back({"steps", "60"});
  const auto greedy = simulation::world{what, how}.run();
  CHECK(greedy.passed);
  CHECK(refused >= 8); // By all others, once at least.
  CHECK(refused <= 8 * 6);
  CHECK(least_share > 0.02);
  what.faults.clear();
  how.log = nullptr;
  const auto honest = simulation::world{what, how}.run();
  CHECK(greedy.last_step < honest.last_step * 5 / 4);
}

TEST_CASE("who is 256 times as fast as the others, or says so, weighs what it "
          "has shown") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    std::map<std::uint64_t, std::vector<double>> shares; // Of each peer.
    simulation::options how;
    how.seed = seed;
    how.log = [&shares](const std::string& line) {
      const auto x = nlohmann::json::parse(line);
      if (x["event"] == "step" && x["share"] > 0)
        shares[x["node"]].push_back(x["share"]);
    };
    const auto what = *load_scenario("tools/scenarios/fast-newcomer.json");
    CHECK(simulation::world{what, how}.run().passed);
    const auto& its = shares.rbegin()->second;
    REQUIRE(its.size() > 7);
    // Of 15 others, which are not all as fast.
    const auto most = [](double medians) { return medians / (medians + 10); };
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(its[i] < most(std::pow(3, i + 1)));
    CHECK(*std::max_element(its.begin(), its.begin() + 8) > 0.7);
  }
}

TEST_CASE("hostile holds for four seeds") {
  CHECK(trial{"tools/scenarios/hostile.json", 0, 45, {}}.complaint(1, 4) == "");
}

TEST_CASE("long-life holds for one seed") {
  CHECK(trial{"tools/scenarios/long-life.json", 6, 10, {}}.complaint(1, 1)
        == "");
}

TEST_CASE("with a failure a minute, 95 % of the steps need one try") {
  CHECK(trial{"tools/scenarios/failures.json", 0, 150, {}}.complaint(1, 2)
        == "");
}

// With people who come and go, and one that is killed each minute.
TEST_CASE("delayed holds for 13 seeds") {
  CHECK(trial{"tools/scenarios/delayed.json", 0, 15, {}}.complaint(1, 13)
        == "");
}
