/// Exchanges in which every chunk is averaged in one place: what Potluck
/// carries out. Direct ones, which are the published problem with one more
/// rule; and relayed ones, which that problem does not know.
#pragma once

#include <vector>

#include "runtime/planning/exchange.hpp"

namespace potluck {

/// Who hands on what cannot go directly. For peer i as the averaging one.
struct relay_routes {
  /// `to[i][k]`: where k sends what is meant for i; k itself: nowhere.
  std::vector<std::vector<std::size_t>> to;
  /// `from[i][j]`: from whom j gets the means of i; j itself: from nobody.
  std::vector<std::vector<std::size_t>> from;
};

/// The ways with the fewest steps, the widest of those, from everybody to
/// everybody. What is meant for several travels each line once. Clients relay
/// nothing.
relay_routes shortest_routes(const peer_network& net);

struct share_exchange {
  double rate = 0; ///< Gradients per second; 0 when there is no such exchange.
  std::vector<double> shares; ///< Sum to 1; empty when there is no exchange.
};

/// The fastest shares when everybody who computes sends to the one that
/// averages, and everybody who holds the model hears from it: in closed form
/// where no link is named, else by a linear program in the shares.
/// @param routes None: all directly.
share_exchange fastest_shares(const peer_network& net,
                              const peer_flags& computing,
                              const relay_routes* routes = nullptr);

/// By how much the rate grows with each peer's upload and download, where no
/// link is named; else zeros.
void gains_of(const peer_network& net, const peer_flags& computing,
              std::vector<double>& upload, std::vector<double>& download);

/// The rate that given shares reach.
double rate_of(const peer_network& net, const peer_flags& computing,
               const std::vector<double>& shares,
               const relay_routes* routes = nullptr);

/// Direct shares as the rates of the published problem.
exchange as_exchange(const peer_network& net, const peer_flags& computing,
                     const share_exchange& x);

} // namespace potluck
