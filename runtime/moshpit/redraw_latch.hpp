/// From which step on a run's groups are drawn anew for every step, where it
/// begins as one (`--averaging auto`).
///
/// Pure. Members of rounds decide alike, for they hold the same contracts;
/// whoever does not see these, or has missed some, goes by what most trainers
/// report. README.md, "From one group to many".
#pragma once

#include <cstdint>
#include <vector>

namespace potluck {

class redraw_latch {
public:
  /// Contracts in a row, of steps in a row, that ask for it.
  static constexpr unsigned contracts_in_a_row = 3;
  /// Steps from there to the first redrawn one: for the news to get round.
  static constexpr std::uint64_t notice = 4;

  /// A round that completes `step` has committed, and its contract asks for
  /// redrawn groups or does not. A step that was already counted counts once.
  /// @return Whether it is decided now, and was not before.
  bool committed(std::uint64_t step, bool asks);

  /// Whether the trainers that are heard of, without this peer, expect redrawn
  /// groups, and from which step on (0: not at all). The larger party wins;
  /// this peer counts unless it only follows others. Of equal ones those who
  /// redraw do, since they cannot go back by themselves. Who has decided by
  /// contracts holds to it until `next_step`, which this peer is about to make,
  /// is the one.
  /// @return Whether `from` has changed.
  bool heard(std::vector<std::uint64_t> others, std::uint64_t next_step);

  /// The first step of redrawn groups; 0: none is known.
  std::uint64_t from() const {
    return from_;
  }
  bool redraws(std::uint64_t step) const {
    return from_ != 0 && step >= from_;
  }

private:
  std::uint64_t from_ = 0;
  bool by_contracts_ = false; ///< `from_`, and not by what others say.
  std::uint64_t last_ = 0;    ///< Step of the last contract that asked.
  unsigned asked_ = 0;        ///< In a row.
};

} // namespace potluck
