/// What `potluck-script` answers, read: whatever it is, since a stranger's file
/// may have taken the program over. Pure.
///
/// Readers fail with half a sentence that follows the file's name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

/// A file that can be computed.
struct opened_script {
  std::vector<std::string> arguments; ///< Of forward, by name.
  model_layout layout;
};

/// A person's file, taken apart.
struct described_script : opened_script {
  std::string file; ///< The same without the tensors' values.
  std::vector<float> values;
};

/// Of a pass.
struct script_outcome {
  double loss = 0; ///< Not finite: then nothing was added.
  /// Of an evaluation, those that are finite.
  std::map<std::string, double> metrics = {};
};

expected<described_script> read_described(std::string_view answer);

expected<opened_script> read_opened(std::string_view answer);

expected<script_outcome> read_outcome(std::string_view answer);

} // namespace potluck
