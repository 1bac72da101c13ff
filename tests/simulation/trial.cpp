#include "tests/simulation/trial.hpp"

#include <stdexcept>

namespace potluck::simulation {

std::string trial::command(std::uint64_t seed) const {
  auto line
      = "potluck sim --scenario=" + file + " --seed=" + std::to_string(seed);
  if (peers > 0)
    line += " --peers=" + std::to_string(peers);
  if (steps > 0)
    line += " --steps=" + std::to_string(steps);
  if (without)
    line += " --without="
            + safeguards()[static_cast<std::size_t>(*without)].name;
  if (!strangers)
    line += " --without-strangers";
  if (fault_points)
    line += " --fault-points";
  return line;
}

report trial::run(std::uint64_t seed) const {
  auto loaded = load_scenario(file);
  if (!loaded)
    throw std::runtime_error{loaded.error()};
  auto what = *loaded;
  if (peers > 0) {
    auto scaled = what.scaled_to(peers);
    if (!scaled)
      throw std::runtime_error{scaled.error()};
    what = *scaled;
  }
  if (steps > 0)
    what.run.push_back({"steps", std::to_string(steps)});
  options how;
  how.seed = seed;
  how.strangers = strangers;
  how.fault_points = fault_points;
  if (without)
    how.guards = how.guards.without(*without);
  return world{what, how}.run();
}

std::string trial::complaint(std::uint64_t first, std::uint64_t seeds) const {
  for (auto seed = first; seed < first + seeds; ++seed) {
    auto result = run(seed);
    if (result.passed)
      continue;
    auto text = "\n" + command(seed);
    for (auto& x : result.violations)
      text += "\n  " + x;
    return text;
  }
  return {};
}

} // namespace potluck::simulation
