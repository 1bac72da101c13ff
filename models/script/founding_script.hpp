/// A person's file of TorchScript as the model of a new run. Torch-free.
///
/// The run's charter carries the tensors' names and shapes, as that of any loop
/// of one's own, and the file without its parameters: those are the run's first
/// state, which its members download as any other.
#pragma once

#include <memory>
#include <string>

#include "messages/expected.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

struct founding_script {
  std::string inputs; ///< Of forward, by name, with commas between.
  charter_files files;
  std::shared_ptr<training_state> first;
};

/// The ending of a file's path that --model takes for one.
constexpr auto script_suffix = ".pt";

bool names_script(const std::string& model);

/// Reads it in the sandbox. Fails with a sentence that names the file, and the
/// argument, tensor or operator.
expected<founding_script> read_founding_script(const std::string& path);

/// The settings of a run that begins with it.
run_settings with_script(run_settings settings, const founding_script& script);

} // namespace potluck
