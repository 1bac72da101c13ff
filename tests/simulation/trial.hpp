/// Runs scenarios for tests, and says how to replay what went wrong.
#pragma once

#include <string>

#include "tools/lab/sim/safeguard_names.hpp"
#include "tools/lab/sim/world.hpp"

namespace potluck::simulation {

struct trial {
  std::string file;      ///< A scenario's path from the repository's root.
  std::size_t peers = 0; ///< Scaled to so many; 0: as it is.
  std::uint64_t steps = 0;
  std::optional<safeguard> without = {};
  bool strangers = true; ///< Whether those of the scenario do anything.
  bool fault_points = false;

  /// The command that runs it again.
  std::string command(std::uint64_t seed) const;

  /// Throws std::runtime_error when the file is no scenario.
  report run(std::uint64_t seed) const;

  /// The violations of the first seed from `first` that has any, of `seeds`;
  /// empty when all pass. The first line is the command that replays it.
  std::string complaint(std::uint64_t first, std::uint64_t seeds) const;
};

} // namespace potluck::simulation
