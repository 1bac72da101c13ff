/// Whether a demonstration showed what it promises, judged by what its peers
/// logged. Pure: no process, file or clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/display/loss_curve.hpp"
#include "tools/lab/judge/demo_log.hpp"

namespace potluck::tools {

/// What a checkpoint turned out to hold.
struct saved_state {
  std::uint64_t step = 0;
  std::string digest; ///< Computed anew from its values, as hex.
};

/// All that is known of one peer in the end.
struct peer_record {
  std::string name;
  bool trainer = true; ///< Else auxiliary.
  bool killed = false; ///< By us.
  bool late = false;   ///< Started when the others had trained for a while.
  std::vector<logged_event> events;
  std::string trouble; ///< How its process ended, unless it ended well.
  std::optional<saved_state> checkpoint;
};

struct demo_record {
  std::uint64_t steps = 0; ///< That the run was to take.
  std::vector<peer_record> peers;
};

struct demo_verdict {
  /// Sentences, the worst first; none: all was as promised.
  std::vector<std::string> problems;
  std::vector<std::string> facts; ///< What was seen, a line each.

  bool passed() const {
    return problems.empty();
  }
};

/// Demands all of:
/// - every step was taken, and at each the digests of all who logged it are
///   equal, those of finished peers, downloads and checkpoints included; at
///   least half of the steps have two digests or more to compare;
/// - the loss fell by `least_fall` at least;
/// - one peer was killed, others noticed, and trained on;
/// - one trainer came late, downloaded the state, and took part;
/// - one auxiliary averaged;
/// - everybody else finished, and saved the same final state.
demo_verdict judge(const demo_record& record);

/// Of the loss at the first step.
constexpr double least_fall = 0.25;

/// The loss at every step that was logged, by step.
std::vector<curve_point> losses_of(const demo_record& record);

} // namespace potluck::tools
