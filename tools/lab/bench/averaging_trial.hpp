/// Runs `potluck bench averaging` and `potluck bench step`: starts the members
/// as processes of this machine, follows what they report, and makes figures of
/// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "tools/lab/child_process.hpp"

namespace potluck::bench {

/// One way of averaging, and how often.
struct averaging_trial {
  /// What starts member `i`, but for the address of the first one.
  std::vector<std::vector<std::string>> commands;
  /// Put before the first member's address, for the others; empty: they meet by
  /// themselves and all start at once.
  std::string contact_option;
  std::string directory; ///< For their reports; must exist.
  std::string name;      ///< Of their files there.
  std::uint64_t rounds = 1;
  /// Of the first ones, that a member may come too late for.
  std::uint64_t may_miss = 0;
};

struct averaging_figures {
  /// From all being ready to all having the first mean.
  double first_seconds = 0;
  /// From one round's end to the next one's, an end being the last member's:
  /// with all that control takes. The first round is not among them.
  std::vector<double> seconds;
  /// Of each of these rounds, the slowest member's time in it: without
  /// matchmaking. Empty for a reference.
  std::vector<double> averaging_seconds;
  /// Likewise, of a global step: the samples behind it, and how many members
  /// took part for all that say so.
  std::vector<double> samples;
  std::vector<double> peers;
  double cpu_seconds = 0;       ///< Of all members, all rounds.
  std::uint64_t bytes_sent = 0; ///< Likewise. 0 for a reference.
  std::uint64_t peak_bytes = 0; ///< Their own at most, summed over them.
  std::uint64_t idle_bytes = 0; ///< Likewise, before there was a gradient.
  bool digests_equal = false;   ///< All members hold the same last mean.
};

/// Fails with a sentence when a member does, or is silent for too long.
expected<averaging_figures> run(const tools::child_group& family,
                                const averaging_trial& what);

/// Of at least one number; `share` 0.5 is the median.
double quantile(std::vector<double> x, double share);

} // namespace potluck::bench
