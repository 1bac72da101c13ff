/// What is in a TorchScript file's records: which of them are loaded, and what
/// in them may not be.
#pragma once

#include <string>

#include "models/script/script_limits.hpp"

namespace potluck {

/// What has to be loaded; the rest (positions in the source, files of the
/// user's) is left out.
enum class script_part { unneeded, version, code, pickle, tensor };

script_part kind_of(const std::string& name);

/// Empty, or why a record of these bytes may not be loaded: half a sentence.
std::string problem_with(script_part kind, const std::string& bytes,
                         const script_limits& most);

} // namespace potluck
