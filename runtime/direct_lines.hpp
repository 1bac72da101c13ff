/// Which members of a group have a line of their own with each other. Where two
/// have none but through a hub, no part of a gradient passes between them.
#pragma once

#include <cstddef>
#include <vector>

#include "messages/matchmaking.hpp"

namespace potluck {

class direct_lines {
public:
  /// A pair has none if either member says so. A member that names itself in
  /// `relayed` has none with any other trainer. Members are places in the
  /// contract.
  explicit direct_lines(const group_contract& contract);

  /// Each has one with each.
  bool complete() const {
    return complete_;
  }
  /// True of a member and itself.
  bool between(std::size_t a, std::size_t b) const {
    return !apart_[a * size_ + b];
  }
  bool trains(std::size_t member) const {
    return trains_[member];
  }
  /// Whether a member has one with every trainer: so it can average for all.
  bool serves_all(std::size_t member) const;
  /// The same where only these take part. @param here A flag for each member.
  bool serves(std::size_t member, const std::vector<bool>& here) const;

private:
  std::size_t size_;
  std::vector<bool> trains_; ///< Has a gradient to give, or needs the mean.
  std::vector<bool> apart_;  ///< Row by row.
  bool complete_ = true;
};

} // namespace potluck
