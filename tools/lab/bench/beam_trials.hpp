/// The search for experts in large networks (Learning@home's experiment): the
/// DHT's and the search's own classes over messages with drawn delays, in
/// virtual time. No actor, no socket, no clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/clock.hpp"

namespace potluck::bench {

struct beam_options {
  std::size_t nodes = 100; ///< Of the DHT; more than `bucket_size`.
  /// Of one layer, all of them announced: the search looks for the best `k`.
  std::vector<std::uint32_t> grid{16, 16};
  std::size_t k = 4;
  /// By so many nodes, once each; fewer where fewer are alive.
  std::size_t searches = 256;
  /// Of a message's one way: drawn from an exponential distribution.
  std::chrono::milliseconds mean_delay{50};
  /// Share of the nodes that have vanished since experts were announced.
  double failed = 0;
  /// Whether a node has to be dialled first: two round trips, TCP's and TLS's.
  bool dials = true;
  std::uint64_t seed = 1;
};

/// What one search took, for one sample.
struct beam_costs {
  double look_ups = 0; ///< Means over all searches.
  double messages = 0; ///< Requests and answers.
  double hops = 0;     ///< From node to node, of the longest way of a look-up.
  duration median{0};  ///< Until the best experts are known.
  duration p95{0};
  duration with_hosts{0}; ///< Median until their hosts are known, too.
};

struct beam_figures {
  std::size_t searches = 0;
  beam_costs cold;  ///< By a node that has looked up nothing yet.
  beam_costs warm;  ///< By the same one, again, for another sample.
  double exact = 0; ///< Share of searches that found just the best.
  double hosts = 0; ///< Share of the found experts whose host was found.
};

/// Throws std::invalid_argument with a sentence on too few nodes.
beam_figures search_experts(const beam_options& how);

} // namespace potluck::bench
