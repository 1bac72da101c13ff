/// Notices that a collaboration has fallen apart: many trainers lost within a
/// moment, without a goodbye.
///
/// Pure; the time comes in. It only says so: what is left goes on by itself,
/// and when the parts meet again one history wins (runtime/progress).
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class split_watch {
public:
  /// Losses within so long belong together: a little more than it takes to
  /// suspect the silent ones one after the other.
  static constexpr duration window = std::chrono::seconds{15};
  /// A pair that loses each other is a departure, not a split.
  static constexpr std::size_t least_lost = 2;

  struct split {
    std::size_t lost = 0;
    std::size_t left = 0; ///< This peer included.
  };

  /// The session with a trainer ended without a goodbye.
  /// @param left Trainers that are still here, this peer included.
  /// @returns a split, once, when at least half of those who were here a moment
  /// ago are lost.
  std::optional<split> lost(const peer_id& who, std::size_t left,
                            time_point now);

  /// A lost trainer is back. Returns whether a split is over with it: half of
  /// its lost are here again.
  bool returned(const peer_id& who);

  /// A split was found and is not over.
  bool apart() const {
    return !missing_.empty();
  }

private:
  std::deque<std::pair<time_point, peer_id>> recent_;
  std::set<peer_id> missing_; ///< Of the split that was found.
  std::size_t missed_ = 0;    ///< How many they were.
};

} // namespace potluck
