/// The checks that the simulation must be able to miss: each can be taken away,
/// one at a time, to prove that a run without it fails (tests/simulation).
///
/// Whoever makes a check is given the set when it is constructed. All are there
/// but in the laboratory (`potluck sim --without NAME`), which knows their
/// names.
#pragma once

#include <cstddef>
#include <cstdint>

namespace potluck {

enum class safeguard : std::size_t {
  repeated_part,    ///< A part that comes twice is summed once.
  equal_digests,    ///< A round commits only when all hold the same mean.
  target_batch,     ///< A step has the samples of the target batch behind it.
  frozen_gradient,  ///< A gradient is announced with the running batch in it.
  batch_number,     ///< Batches that a predecessor asked for are not counted.
  restart_gradient, ///< A new conductor drops what it does not know.
  group_ids,        ///< New matchmaking gives no old ids to new groups.
  longer_history,   ///< Who trains on a shorter history fetches the longer one.
  piece_digest,     ///< A piece of a state or a mean is the one listed.
  naming,           ///< Whose means differed is found out and avoided.
  audit,            ///< Means are averaged once more, now and then.
  checkpoint_sum,   ///< A checkpoint that was torn is not continued from.
  finite_part,      ///< A part with a NaN or an infinity is not summed.
  mean_parameters,  ///< A redrawn group's step begins with mean parameters.
  group_majority,   ///< Of a redrawn group at most one part makes the step.
  count,            ///< How many there are.
};

class safeguard_set {
public:
  /// Whether the check is to be made.
  bool has(safeguard x) const {
    return (away_ & bit(x)) == 0;
  }
  safeguard_set without(safeguard x) const {
    auto result = *this;
    result.away_ |= bit(x);
    return result;
  }

private:
  static std::uint32_t bit(safeguard x) {
    return std::uint32_t{1} << static_cast<std::size_t>(x);
  }
  std::uint32_t away_ = 0;
};

} // namespace potluck
