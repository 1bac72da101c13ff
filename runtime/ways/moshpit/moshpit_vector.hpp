/// What a round of a Moshpit run averages, and what all who are at one step
/// agree on although their parameters differ.
///
/// Groups are drawn anew for every step, so peers of different groups hold
/// different parameters; averaging these as well keeps them together. A round
/// averages one vector of twice the model's length: behind the sum of a
/// trainer's gradients lie its parameters, times the samples in that sum. As
/// every mean, the group's is the sum of all by the samples of all: the mean
/// gradient, and behind it the mean of the parameters, weighted by samples.
#pragma once

#include <cstddef>
#include <cstdint>

#include "messages/ids.hpp"

namespace potluck {

/// Values of a round's vector for a model of so many.
constexpr std::uint64_t moshpit_values(std::uint64_t parameters) {
  return 2 * parameters;
}

/// out[i] = parameters[i] * samples: what lies behind the gradient. The two
/// must not overlap.
void weigh_parameters(float* out, const float* parameters, std::size_t count,
                      std::uint64_t samples);

/// What all report as their state at a step: the same for all, whatever they
/// hold, so that they find each other. @param charter Of the run.
digest nominal_state(const digest& charter, std::uint64_t step);

} // namespace potluck
