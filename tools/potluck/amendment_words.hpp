/// What an organiser's words ask for: the change, and the step from which it
/// holds. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/organiser/run_terms.hpp"

namespace potluck::tools {

/// How far a run is, as its trainers say.
struct run_progress {
  std::uint64_t step = 0;
  double steps_per_second = 0;
  std::size_t trainers = 0;
};

/// The change that the words ask for: a verb, and what belongs to it. Fails
/// with a sentence that says how to write it.
/// @param words At least one.
/// @param state The digest of a roll-back's state, in hex; empty: it is to be
/// chosen.
expected<run_change> change_in(const std::vector<std::string>& words,
                               const std::string& state);

/// Whether all have to begin with it at one step.
bool needs_a_step(const run_change& x);

/// From which step on it holds: where it needs none, as wished. Fails with a
/// sentence where that cannot be.
/// @param wished By the organiser; 0: the first one that all can have heard of
/// it before.
/// @param terms Of the run until now.
/// @param run Nothing: no trainer says.
expected<std::uint64_t> step_for(const run_change& x, std::uint64_t wished,
                                 const run_terms& terms,
                                 const std::optional<run_progress>& run);

} // namespace potluck::tools
