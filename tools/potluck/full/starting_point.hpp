/// What a new run starts from where that is not chance: the parameters of a
/// checkpoint, or of a folder in Hugging Face's form.
///
/// Model, tokenizer and settings come with them; the optimizer begins anew. The
/// run's first state is its founder's then (runtime/state/README.md).
#pragma once

#include <string>
#include <vector>

#include "runtime/state/checkpoint.hpp"
#include "tools/potluck/starting_point.hpp"

namespace potluck::tools {

struct starting_point {
  checkpoint first;               ///< Step 0 of the new run.
  std::vector<std::string> notes; ///< For a person.
};

/// @param from A checkpoint's file, or a folder with model.safetensors,
///     config.json and, for models of text, spiece.model.
/// @param run The new run's name or key.
/// @param changed Settings that differ from those that come along.
/// Fails with a sentence that names the file, and the tensor where one does
/// not fit.
expected<starting_point> start_from(const std::string& from,
                                    const std::string& run,
                                    const std::vector<setting>& changed);

} // namespace potluck::tools
