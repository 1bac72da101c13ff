/// The answer to a strategy problem: who computes, who sends what to whom, what
/// that reaches, and why it is not more.
#pragma once

#include <string>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/planning/strategy_problem.hpp"

namespace potluck {

/// Bytes per second from one peer to another, or within one.
struct planned_rate {
  std::string from;
  std::string to;
  double rate = 0;
};

/// One peer's part of a plan.
struct peer_part {
  std::string id;
  bool computes = false;
  double share = 0;         ///< Of the gradient that it averages, in chunks.
  std::uint32_t chunks = 0; ///< The same, whole.
  /// "upload", "download", "link to ID" or "link from ID": what of it is used
  /// up while averaging; "compute": it computes, and computing limits the
  /// steps;
  /// "-": nothing.
  std::string binding;
  /// Steps per second that one more byte per second of its line, or one more
  /// sample per second, would add; the roles unchanged.
  double upload_gain = 0;
  double download_gain = 0;
  double samples_gain = 0;
};

/// What travels over a third because a pair cannot talk.
struct planned_relay {
  std::string from;
  std::string to;
  std::string over; ///< The next peer on the way.
};

struct strategy_plan {
  /// The published objective: the lesser of computing and averaging.
  double steps_per_second = 0;
  /// What the chunk schedule reaches: every chunk averaged in one place, whole
  /// chunks, relays where needed.
  double scheduled_steps_per_second = 0;
  double compute_steps_per_second = 0;
  /// As the rates below give it. Where nothing has to travel, as fast as
  /// computing.
  double averaging_steps_per_second = 0;
  /// No plan reaches more steps per second, by the published problem.
  double upper_bound = 0;
  double gap = 0; ///< (upper_bound - steps_per_second) / upper_bound.
  /// "all-reduce", "parameter server", "byteps", "decentralised", "mixed",
  /// "relayed", "alone" (a single peer), or "none" (there are no steps).
  std::string strategy;
  /// Of one step of the schedule.
  double compute_seconds = 0;
  double averaging_seconds = 0;
  std::vector<peer_part> peers;        ///< In the order of the input.
  std::vector<planned_rate> gradients; ///< a, local ones included.
  std::vector<planned_rate> means;     ///< g, local ones included.
  /// Both lists are there; false above `limits::listed_peers`.
  bool listed = true;
  std::vector<planned_relay> relays;
  std::uint32_t chunks = 0;
  /// Steps per second that an auxiliary peer with the median line would add.
  double auxiliary_gain = 0;
  double auxiliary_line = 0; ///< That line, in bytes per second.
  std::string solver;
  /// Of what was planned with and of the result: equal plans, equal digests.
  digest fingerprint;
};

/// @param problem As `review` gives it, not refused; else throws
/// std::invalid_argument.
/// @param chunks Equal parts of the gradient that are averaged whole. Not zero.
strategy_plan plan_strategy(const strategy_problem& problem,
                            std::uint32_t chunks);

} // namespace potluck
