/// The published problem for a given set of computing peers: the rates at which
/// gradients and means travel so that the slowest holder gets means as fast as
/// possible.
#pragma once

#include <optional>
#include <vector>

#include "runtime/planning/peer_network.hpp"
#include "runtime/planning/planning_limits.hpp"

namespace potluck {

/// Rates in gradients per second. Within every limit of the network.
struct exchange {
  /// What the slowest holder gets; `peer_network::unlimited` when nothing has
  /// to travel.
  double rate = 0;
  /// At which each peer averages: what every computing peer sends it (a_ki).
  std::vector<double> reduce;
  /// From whom to whom means travel (g_ij), local ones included.
  std::vector<std::vector<double>> means;
  /// By how much the rate grows with each peer's upload and download.
  std::vector<double> upload_gain;
  std::vector<double> download_gain;
  /// The whole published program was solved: no exchange is faster.
  bool published = false;
};

/// The exchange in which nothing travels: of rate 0, or `unlimited` when all
/// that holds the model is all that computes; local rates are then those of
/// computing.
exchange silent_exchange(const peer_network& net, const peer_flags& computing,
                         double rate);

/// No exchange of these computing peers has a higher rate: a mean of the whole
/// gradient must leave every computing peer once, and reach every holder once.
double line_bound(const peer_network& net, const peer_flags& computing);

/// The linear program of DeDLOC (section 3.2) for a fixed `computing`, with one
/// variable for the rate at which each peer averages: O(n^2) variables and
/// rows. A computing peer sends each averaging one exactly that rate, since
/// more would only cost lines. None when the solver gives up.
///
/// Where no link is named and averaging each chunk in one place reaches
/// `line_bound`, that is the answer, and no program is solved.
/// @param most_averaging At most so many peers average, the most promising: a
/// smaller program, and a rate that may be lower.
std::optional<exchange>
fastest_exchange(const peer_network& net, const peer_flags& computing,
                 std::size_t most_averaging = limits::planned_peers);

/// The fastest exchange that is found in reasonable time: the whole program up
/// to `limits::published_peers`; beyond, each chunk in one place, or, with
/// links, few averaging peers. Above `limits::listed_peers` without the rates.
exchange best_known_exchange(const peer_network& net,
                             const peer_flags& computing);

} // namespace potluck
