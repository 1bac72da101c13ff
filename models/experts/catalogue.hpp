/// The experts that this build knows. Torch-free: what the tools include of
/// models/experts/.
#pragma once

#include <string>

#include "models/experts/expert_layout.hpp"
#include "runtime/ports/expert_module.hpp"

namespace potluck {

/// Makes experts that compute on `device` ("auto", "cpu" or "cuda") with
/// `threads` threads; 0 for all cores. The factory throws std::runtime_error
/// with one sentence on a kind that `problem_with` refuses and on a device
/// that is not there.
expert_factory make_expert_factory(std::string device, int threads);

} // namespace potluck
