/// Rounds that an averager does not run now: those that others have begun
/// before it, those that it stays out of, and those that came to nothing.
///
/// Pure; what waits is bounded.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/message.hpp"
#include "runtime/averaging/round/awaited_group.hpp"

namespace potluck::limits {

/// Of letters for the round that this peer has not started yet: members start
/// within a moment of each other, and some of each one's parts may be under
/// way.
constexpr std::size_t early_bytes = std::size_t{256} << 20;
/// What a letter counts at least: so many that they are not worth more.
constexpr std::size_t least_early_bytes = 16 * 1024;

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

  /// @param awaits Of another group no letter is kept.
  explicit other_rounds(std::shared_ptr<const awaited_group> awaits
                        = std::make_shared<awaited_group>())
      : awaits_{std::move(awaits)} {
  }

  /// A letter of a round that does not run here. Until that is begun it waits;
  /// where there is no room, who wrote most loses its newest one.
  /// @returns The answer, if it has one.
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
  struct early {
    letter what;
    std::size_t bytes = 0; ///< As they count.
  };
  std::optional<message> answer(const letter& x);
  void keep(letter x);
  std::map<peer_id, std::vector<early>> take_early();

  std::shared_ptr<const awaited_group> awaits_;
  std::map<peer_id, std::vector<early>> early_; ///< In the order they came.
  std::map<peer_id, std::size_t> early_bytes_;  ///< Of each.
  std::size_t all_early_bytes_ = 0;
  std::deque<left> left_;        ///< The newest last.
  std::deque<group_id> aborted_; ///< Likewise.
};

} // namespace potluck
