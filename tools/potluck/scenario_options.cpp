#include "tools/potluck/scenario_options.hpp"

#include <algorithm>

namespace potluck::tools {

std::vector<cli::option_spec> scenario_options() {
  using cli::option_kind;
  return {
      {"scenario", option_kind::text, "",
       "What befalls whom; see --format, and tools/scenarios.", "FILE"},
      {"format", option_kind::flag, "",
       "Explain the format of scenarios, and end.", ""},
      {"peers", option_kind::integer, "0",
       "Scale the scenario to so many peers, bootstraps included; 0 for as "
       "many as it has.",
       "NUMBER", cli::between(0, 1e5)},
      {"steps", option_kind::integer, "0",
       "Optimizer steps to take; 0 for as many as the scenario says.", "NUMBER",
       cli::between(0, 1e6)},
  };
}

expected<scenario> scenario_from(const cli::command_line& options,
                                 const std::string& command) {
  auto path = options.text("scenario");
  if (path.empty())
    return failure{"Name a scenario with --scenario FILE; tools/scenarios has "
                   "some, and `potluck "
                   + command + " --format` explains them."};
  auto what = load_scenario(path);
  if (!what)
    return what;
  if (auto n = options.integer("peers"); n != 0) {
    what = what->scaled_to(static_cast<std::size_t>(n));
    if (!what)
      return failure{"--peers: " + what.error()};
  }
  if (auto steps = options.integer("steps"); steps != 0)
    what->run.push_back({"steps", std::to_string(steps)});
  return what;
}

std::string replay_line(const cli::command_line& options,
                        const std::string& command, std::uint64_t seed) {
  auto line = "potluck " + command + " --scenario=" + options.text("scenario")
              + " --seed=" + std::to_string(seed);
  for (auto& word : options.given_words()) {
    auto name = word.substr(2, word.find('=') - 2);
    // Said already, or only of what is shown and kept.
    const auto others
        = {"scenario", "seed", "seeds", "json", "log", "keep", "threads"};
    if (std::find(others.begin(), others.end(), name) == others.end())
      line += " " + word;
  }
  return line;
}

} // namespace potluck::tools
