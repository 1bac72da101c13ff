/// Shares of which some have a bound together with another's.
#pragma once

#include <cstddef>
#include <vector>

namespace potluck {

/// Shares `a` and `b` are at most so much together.
struct shared_bound {
  std::size_t a = 0;
  std::size_t b = 0;
  double most = 0; ///< Not negative.
};

/// So many shares may have bounds together; of more, those of the loosest
/// bounds are as if they had none.
constexpr std::size_t paired_shares = 64;

/// The largest sum of shares between 0 and `most` that keep these bounds.
///
/// A linear program whose dual is a cover of the shares by bounds: doubled
/// (each share on both sides) it is an assignment problem, and the potentials
/// of the Hungarian method, averaged over both sides, are the shares. O(n^3)
/// for n shares with bounds together, and every operation in one order, so that
/// all machines get the same bits. Kuhn (1955); for the doubling: Nemhauser and
/// Trotter (1975), whose half-integral solutions these are.
/// @param most Of each share alone; not negative.
std::vector<double> most_together(std::vector<double> most,
                                  std::vector<shared_bound> bounds);

} // namespace potluck
