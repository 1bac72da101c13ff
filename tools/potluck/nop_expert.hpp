/// Experts that compute nothing: for trying out a network of hosts and callers.
#pragma once

#include "runtime/ports/expert_module.hpp"

namespace potluck::tools {

/// Outputs are the inputs, and the inputs' gradients those of the outputs; a
/// backward pass counts as an update.
expert_factory make_nop_factory();

} // namespace potluck::tools
