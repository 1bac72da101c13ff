/// Questions to many experts at once, and the wait for their answers: the port
/// `expert_network`, which calls back, for code that computes and blocks.
///
/// Any number of threads may wait at a time; nothing is locked while others
/// wait. Reads the clock itself, for whoever waits here does so by the clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/experts/beam_search.hpp"
#include "runtime/experts/expert_memory.hpp"
#include "runtime/experts/quorum.hpp"
#include "runtime/ports/expert_network.hpp"

namespace potluck {

/// Brings `search` to its end; blocks. What is not found in `known` is looked
/// up, all prefixes of one round at a time. Look-ups that fail, or that have no
/// answer after `patience`, find nobody.
/// @returns Why the last of them failed; empty if none did.
std::string find_experts(expert_network& network, beam_search& search,
                         expert_memory& known,
                         std::chrono::milliseconds patience);

/// One call, and how many values a good answer has.
struct wanted_call {
  expert_call what;
  std::size_t values = 0;
  std::vector<std::uint32_t> samples; ///< Numbers that the quorum knows.
};

/// What became of a set of calls.
struct call_outcome {
  /// Of each call; empty if it is left out.
  std::vector<float_array> answers;
  /// Whether each of the samples has its quorum.
  std::vector<bool> enough;
  std::string problem; ///< Why one of those left out is; empty if none is.
};

/// Calls all at once and waits as `how` says, at most for its patience; blocks.
/// Answers of another length or with values that are not finite are failures;
/// those that come after the end are dropped.
/// @param known Is told who answers and who fails; may be null.
call_outcome call_together(expert_network& network,
                           std::vector<wanted_call> calls, std::size_t samples,
                           quorum::settings how, expert_memory* known);

} // namespace potluck
