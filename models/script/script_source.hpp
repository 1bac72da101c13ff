/// Samples for a script: of texts or of images, as its inputs ask. Private to
/// models/, since it includes LibTorch.
#pragma once

#include "models/source_kind.hpp"

namespace potluck {

/// The setting of a script's run that says what its forward takes.
constexpr auto script_inputs_setting = "inputs";

source_kind script_samples_source();

} // namespace potluck
