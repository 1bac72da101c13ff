/// What each trainer has shown in the contracts of this peer's own steps, and
/// so how many of the samples that it claims count in the next one: its weight
/// in the mean. The figures are at the top of the .cpp file.
///
/// Pure, and without a clock: how much longer than the last a step is shows in
/// what the others bring to it. So members that have made the same steps bound
/// the same contract alike.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "messages/matchmaking.hpp"

namespace potluck {

class shown_samples {
public:
  struct claim {
    peer_id who;
    std::uint64_t samples = 0;
  };

  /// How many samples count in one group, of each of its trainers.
  class bounds {
  public:
    /// At least one.
    std::uint64_t of(const peer_id& who) const;

  private:
    friend class shown_samples;
    const shown_samples* by_ = nullptr; ///< Null: all that is claimed counts.
    double least_ = 0; ///< Of a trainer that has shown less, or nothing.
    double times_ = 0; ///< So much of what was shown.
  };

  /// Fewer trainers do not tell which of them lies: all that they claim counts.
  static constexpr std::size_t least_trainers = 3;

  /// A round with this contract has made the step.
  /// @param left_out As in `round_over`: what these brought was not seen.
  void made(const group_contract& x, const std::vector<std::uint8_t>& left_out);

  /// Of a peer that has taken over others' history. They have seen what it has
  /// not, and nothing of it: it bounds itself alone. Otherwise nothing is
  /// bounded before the first step.
  static shown_samples newcomer(const peer_id& self);

  /// It has made so many steps that it knows what all others know: nothing of
  /// what was shown earlier counts any more.
  bool is_sure() const;

  /// The bounds in a group whose trainers claim this. Not to outlive this.
  bounds among(const std::vector<claim>& all) const;
  /// Of the trainers of a contract. Likewise.
  bounds among(const group_contract& x) const;

private:
  std::map<peer_id, double> shown_; ///< Samples of a step like the last one.
  double typical_ = 0;              ///< The lower median that it counted.
  std::uint64_t steps_ = 0;
  std::optional<peer_id> newcomer_;
};

} // namespace potluck
