/// Who computes: the set for which steps per second are the most.
///
/// More computing peers mean more samples per second and, since everybody must
/// wait for all their gradients, a slower exchange. Small problems are searched
/// whole, by GLPK's branch and bound; in larger ones good sets are sought along
/// orders of the peers, and a bound says how far from the best they can be.
#pragma once

#include <string>

#include "runtime/planning/exchange.hpp"
#include "runtime/planning/shares.hpp"

namespace potluck {

struct chosen_computing {
  peer_flags computing;
  exchange best; ///< As `best_known_exchange` gives it.
  /// The lesser of its rate and of computing, in steps per second.
  double rate = 0;
  /// No set gives more.
  double upper_bound = 0;
  std::string solver; ///< How it was found.
};

chosen_computing choose_computing(const peer_network& net);

/// No set of computing peers gives more steps per second; from the lines of
/// single peers alone. O(n log n).
double scanned_bound(const peer_network& net);

/// The same from a linear program over sums of rates, in which alike peers are
/// joined: often closer, O(n) rows.
/// @param least What is reached already: only better plans are bounded, so the
/// result is at least this.
double summed_bound(const peer_network& net, double least);

} // namespace potluck
