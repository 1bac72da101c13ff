#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/simulation/trial.hpp"

using namespace potluck;

// PROBE="file seed steps strangers(0/1) faults(0/1) log;..."
TEST_CASE("probe") {
  const char* what = std::getenv("PROBE");
  if (!what)
    return;
  std::istringstream all{what};
  for (std::string one; std::getline(all, one, ';');) {
    std::istringstream in{one};
    std::string file, log;
    std::uint64_t seed = 1, steps = 0;
    int strangers = 1, faults = 1;
    in >> file >> seed >> steps >> strangers >> faults >> log;
    auto x = *load_scenario("tools/scenarios/" + file + ".json");
    if (steps > 0)
      x.run.push_back({"steps", std::to_string(steps)});
    if (!faults)
      x.faults.clear();
    simulation::options how;
    how.seed = seed;
    how.strangers = strangers != 0;
    std::ofstream out;
    if (!log.empty()) {
      out.open(log);
      how.log = [&](const std::string& line) { out << line << "\n"; };
    }
    const auto r = simulation::world{x, how}.run();
    std::cout << one << ": " << (r.passed ? "pass" : "FAIL") << " steps "
              << r.steps << " last " << to_seconds(r.last_step) << " rate "
              << r.steps / to_seconds(r.last_step) << " entry "
              << to_seconds(r.slowest_entry) << " first " << r.first_try
              << std::endl;
    for (auto& v : r.violations)
      std::cout << "   " << v << std::endl;
  }
}
