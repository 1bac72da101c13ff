/// A user's own files that are to be artifacts of a run.
#pragma once

#include <map>
#include <string>

#include "runtime/artifacts/artifact_folder.hpp"
#include "runtime/state/charter.hpp"

namespace potluck {

/// Files by artifacts' names.
using own_artifacts = std::map<std::string, std::string>;

/// Reads NAME=FILE. Fails with a sentence, also where the file cannot be one.
expected<bool> add_own_artifact(own_artifacts& to, const std::string& text);

/// The draft with a list of them, for whoever founds or creates a run; copies
/// of them are put into the folder. What the draft lists under other names has
/// to be there. Blocks; fails with a sentence.
expected<charter> with_own_artifacts(const charter& draft,
                                     const own_artifacts& files,
                                     const artifact_folder& folder);

/// Puts copies of those that the run lists into the folder. Fails with a
/// sentence where one is not what the run has, or the run has none of its name.
expected<bool> take_own_artifacts(const charter& agreed,
                                  const own_artifacts& files,
                                  const artifact_folder& folder);

} // namespace potluck
