/// What a script's forward may ask for by the names of its arguments
/// (models/script/README.md has the table), and which samples that makes of the
/// data. Torch-free.
#pragma once

#include <string>
#include <vector>

#include "messages/expected.hpp"

namespace potluck {

/// Where a run's samples come from.
enum class script_samples { running_text, masked_text, images };

/// "tokens,labels" apart.
std::vector<std::string> split_inputs(const std::string& inputs);

/// Fails with half a sentence that names the argument which no batch has, or
/// which others do not go with.
expected<script_samples> samples_for(const std::vector<std::string>& inputs);

} // namespace potluck
