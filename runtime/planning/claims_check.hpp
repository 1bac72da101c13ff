/// Whether plans by what members say of their lines are worth having.
///
/// A plan takes figures at their word, and one peer that says it is fast and is
/// not holds everybody up. So plans are held against what rounds really took:
/// where they take much longer than planned, a round with equal shares, which
/// believe nobody, shows whether that is the lines' fault or the figures'; from
/// then on the faster of the two is used, and the other tried again ever more
/// rarely. So lies cost at most the rounds in which they are tried.
///
/// Pure: the leader of a group's rounds owns one.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "messages/ids.hpp"

namespace potluck {

class claims_check {
public:
  /// Times the planned seconds, plus `slack_seconds`, from which on a round
  /// counts as slow: headers, retransmissions and waiting for the slowest are a
  /// half at most on lines that are what they were said to be.
  static constexpr double slow = 1.5;
  /// Round trips and scheduling, which are in no plan.
  static constexpr double slack_seconds = 0.5;
  /// Slow rounds in a row before equal shares are tried: two may be a family's
  /// television.
  static constexpr std::size_t slow_rounds = 3;
  /// Equal shares must take less than this part of the planned rounds' time.
  static constexpr double clearly = 0.9;
  /// Rounds until the other is tried again, doubled each time in vain.
  static constexpr std::size_t first_wait = 8;
  static constexpr std::size_t longest_wait = 64;

  /// A round of this group has been committed.
  /// @param members In the contract's order; another set starts anew.
  /// @param believed Whether it was planned by the members' figures.
  /// @param planned Seconds by that plan; without meaning if not `believed`.
  void observe(const std::vector<peer_id>& members, bool believed,
               double planned, double took);

  /// Whether the next round is to be planned by the figures.
  bool believe() const {
    return believe_;
  }

private:
  void judge();
  double typical_believed() const;

  std::vector<peer_id> members_;
  std::deque<double> believed_; ///< What the last such rounds took.
  double equal_ = 0;            ///< What the last round without took; 0: none.
  std::size_t slow_in_a_row_ = 0;
  std::size_t wait_ = first_wait;
  std::size_t rounds_to_wait_ = 0;
  bool believe_ = true;
  bool trial_ = false; ///< The next round shows which is faster.
};

} // namespace potluck
