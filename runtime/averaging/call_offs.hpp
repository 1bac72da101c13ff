/// Who has called rounds off, or taken their lead, before their time and for
/// no reason that this peer sees.
///
/// It may have had one, as a member that stepped back and told nobody else. So
/// it is doubted only when that happened in half of the last rounds, whoever
/// did so in the others: keys cost nothing, and several can take turns. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "messages/ids.hpp"

namespace potluck::limits {

/// Rounds that are remembered, and in how many of them somebody is excused.
constexpr std::size_t rounds_remembered = 8;
constexpr std::size_t call_offs_excused = 3;

} // namespace potluck::limits

namespace potluck {

class call_offs {
public:
  /// @param who Has done so in a round; empty: nobody has.
  /// @returns Whether that has now happened too often, and twice by that one.
  bool note(const peer_id& who) {
    last_.push_back(who);
    if (last_.size() > limits::rounds_remembered)
      last_.pop_front();
    const auto times
        = std::count_if(last_.begin(), last_.end(),
                        [](const peer_id& by) { return !by.empty(); });
    return !who.empty() && std::count(last_.begin(), last_.end(), who) > 1
           && static_cast<std::size_t>(times) > limits::call_offs_excused;
  }

private:
  std::deque<peer_id> last_; ///< The newest last.
};

} // namespace potluck
