/// Scenarios of tools/scenarios with other optimizers than LAMB, and so with
/// states that have fewer moments.
#include <doctest/doctest.h>

#include "tests/simulation/trial.hpp"

using potluck::setting;
using potluck::simulation::options;
using potluck::simulation::world;

namespace {

std::string complaint(const std::string& file,
                      const std::vector<setting>& settings) {
  auto loaded = potluck::load_scenario(file);
  REQUIRE(loaded);
  auto what = loaded->scaled_to(8);
  REQUIRE(what);
  for (const auto& x : settings)
    what->run.push_back(x);
  const auto result = world{*what, options{}}.run();
  CHECK(result.steps == 20);
  std::string all;
  for (const auto& x : result.violations)
    all += x + "\n";
  return all;
}

} // namespace

TEST_CASE("people come, go and come back with every number of moments") {
  const std::string churn = "tools/scenarios/churn.json";
  const setting steps{"steps", "20"};
  const setting warmup{"warmup-steps", "2"};
  CHECK(complaint(churn, {steps,
                          warmup,
                          {"optimizer", "adamw"},
                          {"schedule", "cosine"},
                          {"learning-rate", "0.01"}})
        == "");
  CHECK(
      complaint(
          churn,
          {steps, warmup, {"optimizer", "lion"}, {"schedule", "inverse-sqrt"}})
      == "");
  CHECK(complaint(churn, {steps,
                          warmup,
                          {"optimizer", "sgd"},
                          {"momentum", "0"},
                          {"schedule", "constant"}})
        == "");
}
