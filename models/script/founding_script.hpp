/// A person's file of TorchScript as the model of a new run. Torch-free.
///
/// The run's charter carries the tensors' names and shapes, as that of any loop
/// of one's own, and the file without its parameters, or, where that is large,
/// lists it as an artifact. The parameters are the run's first state, which its
/// members download as any other.
#pragma once

#include <memory>
#include <string>

#include "messages/expected.hpp"
#include "runtime/artifacts/artifact_folder.hpp"
#include "runtime/artifacts/own_artifacts.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

struct founding_script {
  std::string inputs; ///< Of forward, by name, with commas between.
  charter_files files;
  std::string large; ///< The file where it is none of a charter; else empty.
  std::shared_ptr<training_state> first; ///< Without moments.
};

/// The ending of a file's path that --model takes for one.
constexpr auto script_suffix = ".pt";

bool names_script(const std::string& model);

/// Why no script is computed on the device, in the precision, of these names,
/// in a sentence; empty: it is.
std::string problem_with_computing(const std::string& device,
                                   const std::string& precision);

/// Reads it in the sandbox. Fails with a sentence that names the file, and the
/// argument, tensor or operator.
/// @param given What the run's settings say, of its buffers for instance.
expected<founding_script> read_founding_script(const std::string& path,
                                               const run_settings& given = {});

/// The settings of a run that begins with it, whose first state gets the
/// moments that their optimizer keeps.
run_settings with_script(run_settings settings, founding_script& script);

/// Has the file be an artifact of the run, if it is large, and keeps it in the
/// `folder` of those. Fails with a sentence.
expected<bool> add_large(const founding_script& script,
                         const artifact_folder& folder, own_artifacts& to);

/// What a run's members compute. @param artifacts The folder of those of runs.
/// Throws std::runtime_error with a sentence.
std::string script_of(const charter& agreed, const std::string& artifacts);

} // namespace potluck
