/// A reviewed strategy problem in the units that solvers use: peers by number,
/// and everything in steps or gradients per second.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/planning/strategy_problem.hpp"

namespace potluck {

/// One flag for each peer.
using peer_flags = std::vector<bool>;

/// Immutable.
class peer_network {
public:
  static constexpr double unlimited = std::numeric_limits<double>::infinity();

  /// @param problem As `review` gives it, not refused.
  explicit peer_network(const strategy_problem& problem);

  std::size_t size() const {
    return peers_.size();
  }
  const std::string& id(std::size_t i) const {
    return peers_[i].id;
  }
  /// What it adds to the steps per second when it computes.
  double compute(std::size_t i) const {
    return peers_[i].compute;
  }
  /// Gradients per second.
  double up(std::size_t i) const {
    return peers_[i].up;
  }
  double down(std::size_t i) const {
    return peers_[i].down;
  }
  bool holds(std::size_t i) const {
    return peers_[i].holds;
  }
  bool listens(std::size_t i) const {
    return peers_[i].listens;
  }
  std::optional<bool> computes(std::size_t i) const {
    return peers_[i].computes;
  }
  std::size_t holders() const {
    return holders_;
  }

  /// Gradients per second from i to another j; `unlimited` where not named.
  double link(std::size_t i, std::size_t j) const;
  /// The named ones: from, to, gradients per second.
  const std::map<std::pair<std::size_t, std::size_t>, double>& links() const {
    return links_;
  }

  /// Steps per second of these computing alone, whatever the lines do.
  double compute_rate(const peer_flags& computing) const;

  /// The number of each peer's island: peers of one island reach each other
  /// both ways, over others if need be.
  std::vector<std::size_t> islands() const;

private:
  struct peer {
    std::string id;
    double compute;
    double up;
    double down;
    std::optional<bool> computes;
    bool holds;
    bool listens;
  };

  std::vector<peer> peers_;
  std::map<std::pair<std::size_t, std::size_t>, double> links_;
  std::size_t holders_ = 0;
};

} // namespace potluck
