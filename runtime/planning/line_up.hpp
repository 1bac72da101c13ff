/// Who averages together where some pairs have no line of their own.
///
/// A chunk is averaged by a member that has a line with every trainer of the
/// group. Where there is none, or where it alone would hold everybody up, some
/// trainers stay out and hand their gradients to one that stays in, which adds
/// them to its own (runtime/ways/cells): it sums where it could have relayed.
#pragma once

#include <cstddef>
#include <vector>

#include "messages/matchmaking.hpp"

namespace potluck {

struct line_up {
  /// A flag for each member of the contract. Auxiliaries always stay.
  std::vector<bool> stays;
  /// Of each trainer that stays out, the one that stays in, with which it has a
  /// line and whose other contributors are the fewest; else `nobody`.
  std::vector<std::size_t> through;
  /// Trainers whose gradients count: all but those without a `through`.
  std::size_t counted = 0;
  /// Of a step, for gradients and means, by the lines alone. Infinite where
  /// nobody has a line with all trainers that stay.
  double seconds = 0;

  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);
};

/// All stay if somebody has a line with all trainers, unless without some of
/// them a step takes less than `worth_leaving_out` of the time. Else as many
/// trainers count as can, and of those line-ups the fastest that is found.
///
/// Candidates: whom each member has a line with; and all trainers, those left
/// out one by one that miss the most lines. Not the best of all line-ups, which
/// is a dominating set. No chance, and sums in one order. Throws
/// std::invalid_argument where a contract cannot be planned.
/// @param contribute Who stays out may; else it counts for nothing.
line_up best_line_up(const group_contract& contract, bool contribute = true);

/// This one, weighed like the others.
line_up weighed(const group_contract& contract, std::vector<bool> stays);

/// Who names all but a few as out of its reach makes these few average alone:
/// what a liar costs the others is bounded by this.
constexpr double worth_leaving_out = 2.0 / 3;

} // namespace potluck
