/// What a peer shows of its run's history: steps with the signatures of those
/// that made them. What follows from them is runtime/history's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/progress.hpp"

namespace potluck {

/// One whose gradient is in a step.
struct step_maker {
  peer_id id;
  std::uint64_t samples = 0; ///< Not zero.
  step_signature by = {};    ///< Empty: it has not signed.
};

struct signed_step {
  digest charter;
  std::uint64_t step = 0;
  std::uint64_t history_samples = 0; ///< After it.
  std::uint64_t samples = 0;         ///< Behind it.
  digest before;                     ///< The states.
  digest after;
  std::vector<step_maker> makers; ///< Ascending by id.
};

/// "Please show me what you hold of the run's history."
struct history_request {
  std::uint64_t token = 0;
  /// Of which run, where the receiver knows several; empty: of its own.
  std::string run = {};
};

struct history_reply {
  std::uint64_t token = 0;
  std::string run = {};
  /// The newest last: most of the weight of each has signed the next one.
  std::vector<signed_step> steps = {};
};

} // namespace potluck
