/// The healing decision: from what the members that are left have of each chunk
/// to where its mean shall come from. Standings in, ruling out.
///
/// Pure, and without memory: round_agreement's acting leader asks once an
/// epoch. runtime/averaging/README.md, "Why two finals cannot exist", says why
/// there is one mean of each version.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "messages/averaging.hpp"
#include "runtime/averaging/chunk_map.hpp"
#include "runtime/direct_lines.hpp"

namespace potluck {

class round_healing {
public:
  /// What a member that takes part has of each chunk; none for the others.
  using report = std::optional<std::vector<chunk_standing>>;

  /// @param samples Of each member, as in the contract.
  /// @param least_samples Fewer behind any chunk do not make a step.
  /// @param lines Whoever gives a mean has a line with all trainers that take
  /// part; none: all have lines with all.
  round_healing(const chunk_map& map, std::vector<std::uint64_t> samples,
                std::uint64_t least_samples,
                std::optional<direct_lines> lines = std::nullopt);

  /// How the round can be completed, per chunk:
  /// - somebody holds a mean: the highest version counts, its first holder is
  ///   the source;
  /// - nobody does: the member that has the most of its parts averages it (the
  ///   planned reducer in a tie), in this epoch's version. When nobody has any
  ///   and the planned reducer is gone, it goes to the member that has got the
  ///   fewest so, measured by what the plan gave it.
  ///
  /// None when the round is lost: some chunk would certainly count too few
  /// samples, nobody has the lines to give its mean, or there are more chunks
  /// than can be spoken of.
  /// @param reports Of all members, in the contract's order.
  std::optional<round_heal> rule(const group_id& group, std::uint32_t epoch,
                                 const std::vector<report>& reports) const;

private:
  chunk_map map_;
  std::vector<std::uint64_t> samples_;
  std::uint64_t least_samples_;
  std::optional<direct_lines> lines_;
};

} // namespace potluck
