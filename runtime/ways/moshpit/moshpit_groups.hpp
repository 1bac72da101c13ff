/// Who averages with whom in one round of Moshpit averaging: groups that are
/// drawn anew every round, so that a few rounds mix everybody's values though
/// nobody ever averages with all (Ryabinin et al. 2021, "Moshpit SGD", arXiv
/// 2103.03239, algorithm 1).
///
/// Pure, and a function of its arguments: all who know the same peers draw the
/// same groups, without a word between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "messages/ids.hpp"

namespace potluck {

/// The grid that peers are put on: a digit of a place's number for each
/// dimension. Who agrees in all digits but one averages together.
class moshpit_grid {
public:
  /// As few dimensions as groups of `group_size` allow. Of the grids whose
  /// shortest side is at least half of the longest, the one with the fewest
  /// places: empty ones make groups of unequal size, and those keep the rounds
  /// of one epoch from giving the exact mean.
  /// @param peers At least one. @param group_size At least 2.
  moshpit_grid(std::size_t peers, std::size_t group_size);

  /// Longest first; at least one.
  const std::vector<std::size_t>& sides() const {
    return sides_;
  }

  /// Until ranks have to be drawn anew: in as many rounds everybody's value
  /// reaches everybody.
  std::size_t rounds() const {
    return sides_.size();
  }

  std::size_t places() const {
    return places_;
  }

  /// Peers are known here by their ranks, 0 to `peers - 1`, which are spread
  /// evenly over the places. Every rank is in exactly one group, none is larger
  /// than `group_size`, and none has a single peer unless others have no room
  /// for it and no peer to spare.
  /// @param round Its digit is `round % rounds()`.
  std::vector<std::vector<std::size_t>> groups(std::uint64_t round) const;

private:
  std::size_t peers_;
  std::size_t group_size_;
  std::vector<std::size_t> sides_;
  std::size_t places_ = 1;
};

/// The groups of one round. In every epoch of `moshpit_grid::rounds` rounds the
/// peers' ranks are drawn anew.
/// @param peers In any order, each once; none gives no group.
/// @param group_size At least 2. @param seed Of the run.
std::vector<std::vector<peer_id>> moshpit_groups(std::vector<peer_id> peers,
                                                 std::size_t group_size,
                                                 std::uint64_t seed,
                                                 std::uint64_t round);

/// The one among them that `self` is in; empty if it is in none.
std::vector<peer_id> moshpit_group_of(const peer_id& self,
                                      std::vector<peer_id> peers,
                                      std::size_t group_size,
                                      std::uint64_t seed, std::uint64_t round);

} // namespace potluck
