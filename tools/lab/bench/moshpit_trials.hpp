/// How many rounds of Moshpit averaging bring everybody's values together when
/// some peers fail in each, next to one all-reduce of all that starts again
/// whenever anybody fails. Numbers only: no peer, no network, no time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace potluck::bench {

struct moshpit_options {
  std::size_t peers = 512;
  std::size_t group_size = 8;
  /// Probability that a peer fails in a round. Its group goes on without it,
  /// and it keeps the value that it had.
  double failures = 0.01;
  std::size_t trials = 100;
  std::uint64_t seed = 1;
};

/// Reached when the mean squared distance of the values to their mean is this
/// part of what it was before the first round.
constexpr double moshpit_precision = 1e-9;
/// Who has not come so far by then is given up.
constexpr std::size_t most_moshpit_rounds = 1000;
constexpr std::size_t most_restarts = 10'000;

struct moshpit_figures {
  std::vector<std::size_t> grid;
  double rounds = 0;        ///< To that precision; mean of the trials.
  std::size_t most = 0;     ///< Of one trial.
  bool reached = true;      ///< In all trials.
  double restarted = 0;     ///< Rounds of the all-reduce; mean of the trials.
  bool succeeded = true;    ///< It did in all trials.
  std::vector<double> left; ///< Of the distance after each round, mean.
};

moshpit_figures average_in_moshpit(const moshpit_options& how);

} // namespace potluck::bench
