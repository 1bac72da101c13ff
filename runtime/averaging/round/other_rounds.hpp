/// Rounds that an averager does not run now: those that others have begun
/// before it, those that it stays out of, and those that came to nothing.
///
/// Pure; what waits is bounded.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/message.hpp"

namespace potluck::limits {

/// Letters for rounds that this peer has not started yet: members start within
/// a moment of each other, and one gradient's worth may be under way.
constexpr std::size_t early_letters = 8192;

} // namespace potluck::limits

namespace potluck {

/// Of the round that a message belongs to; null for other messages.
const group_id* round_of(const message& x);

class other_rounds {
public:
  struct letter {
    peer_id from;
    message content;
    shared_bytes body;
  };

  /// A letter of a round that does not run here.
  /// @returns The answer, if it has one: until it is begun, a round is one of
  /// few letters, and the oldest goes when somebody floods us.
  std::optional<message> read(letter x);

  /// The round begins: what came for it. What came for others is forgotten.
  std::vector<letter> begin(const group_id& group);
  /// The peer left: what it wrote with its former session is void.
  void forget(const peer_id& from);

  /// This peer takes no part in the round. @returns The answers to those that
  /// have written already.
  std::vector<std::pair<peer_id, message>> stay_out(const group_id& group);
  /// The same, and tells these members. @returns Those it has not told before.
  std::vector<std::pair<peer_id, message>>
  leave(const group_id& group, const std::vector<peer_id>& members);

  /// The round was aborted here, and another one begins.
  void aborted(const group_id& group);

private:
  struct left {
    group_id group;
    std::set<peer_id> told;
  };
  std::optional<message> answer(const letter& x);

  std::deque<letter> early_;
  std::deque<left> left_;        ///< The newest last.
  std::deque<group_id> aborted_; ///< Likewise.
};

} // namespace potluck
