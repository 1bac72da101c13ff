/// The optimizers that a run may name, and the settings that each has alone.
#pragma once

#include "runtime/state/setting_kinds.hpp"

namespace potluck {

/// Chosen by the setting `optimizer`. A new one is one more line in the .cpp.
const kind_family& optimizer_family();

} // namespace potluck
