/// The fastest exchange when every chunk is averaged in exactly one place and
/// peers reach each other directly: in closed form, by bisection.
///
/// In time T a peer can average any share between two bounds that are linear in
/// T; the answer is the least T at which the bounds leave room for shares that
/// sum to 1. O(n) for each halving, and every sum in one order, so that all
/// machines get the same bits. Where pairs are limited, two peers' shares have
/// a bound together, and a halving is a matching (pair_shares.hpp).
#pragma once

#include <cstddef>
#include <vector>

namespace potluck {

struct one_place_peer {
  double up = 0;   ///< Gradients per second.
  double down = 0; ///< Gradients per second.
  bool computes = true;
  bool holds = true;
  bool averages = true; ///< May average for others.
};

struct one_place_answer {
  /// For one gradient; infinite when no shares will do, zero when nothing has
  /// to move.
  double seconds = 0;
  std::vector<double> shares; ///< They sum to 1; empty when there are none.
  /// The work: each took O(n), or a matching where pairs are limited.
  std::size_t times_tried = 0;
};

/// What peer `from` can send peer `to`.
struct one_place_limit {
  std::size_t from = 0;
  std::size_t to = 0;
  double speed = 0; ///< Gradients per second, more than zero.
};

/// When many shares are equally fast, each peer gets in proportion to the most
/// that it could average in that time: without limits equal peers equal shares.
one_place_answer fastest_in_one_place(const std::vector<one_place_peer>& peers,
                                      const std::vector<one_place_limit>& limits
                                      = {});

/// By how much gradients per second grow with each peer's upload or download,
/// in gradients per second. Zero where another line alone limits them, and for
/// lines that limit them together.
struct one_place_gains {
  std::vector<double> up;
  std::vector<double> down;
};

one_place_gains gains_in_one_place(const std::vector<one_place_peer>& peers,
                                   const one_place_answer& answer);

} // namespace potluck
