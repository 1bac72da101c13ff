/// The published problem with the choice of who computes: a mixed-integer
/// program, solved by GLPK's branch and bound.
#pragma once

#include <optional>
#include <vector>

#include "runtime/planning/peer_network.hpp"

namespace potluck {

/// What is known of each peer before the search.
enum class computing_choice { no, yes, open };

struct computing_question {
  std::vector<computing_choice> choices; ///< One for each peer.
  double most = 0;  ///< No plan gives more steps per second; above zero.
  double least = 0; ///< Only plans of at least this rate are of interest.
  std::vector<peer_flags> except; ///< Sets that are no answer.
};

struct computing_answer {
  std::optional<peer_flags> computing; ///< None: no plan reaches `least`.
  double rate = 0;                     ///< Steps per second of that plan.
  double bound = 0; ///< No plan of two or more computing peers is above both
                    ///< this and `least`.
  bool complete = false; ///< The search was not cut short.
};

/// Sets of at least two computing peers; one alone is easily tried. With
/// `c_k` = 1 if k computes, z_k the rate that k may fall short of, and all
/// rates as parts of `most`:
///
///     maximise   v
///     subject to v <= sum s_k c_k / B
///                sum_i g_ij >= v                     for holders j
///                g_ij <= r_i <= v
///                a_ki >= r_i - z_k,  z_k <= 1 - c_k  (a_ki = r_i where c_k = 1
///                                                    is given, 0 where not)
///                sum_i a_ki >= v - r_k - z_k         (tightens the relaxation)
///                upload, download and links as published
///
/// Peers that are alike compute in their order: one of many equal answers is
/// enough.
computing_answer best_computing(const peer_network& net,
                                const computing_question& question,
                                std::size_t most_parts);

} // namespace potluck
