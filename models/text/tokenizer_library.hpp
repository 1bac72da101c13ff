/// Finds and opens the shared object that contains SentencePiece.
#pragma once

#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "models/tokenizer_plugin/interface.h"

namespace potluck {

/// Where the plugin may be, in order: the folder that the environment variable
/// POTLUCK_PLUGIN_DIR names, and nowhere else when it is set; `../lib/potluck`
/// and `lib/potluck` beside the executable, and for tests in a build tree the
/// folder that the build put it in.
std::vector<std::string> tokenizer_library_candidates();

/// Opens the first of the candidates that exists; it is never closed. Fails
/// with a sentence when there is none, or when it is damaged or of another
/// version.
expected<const potluck_tokenizer_interface*>
open_tokenizer_library(const std::vector<std::string>& candidates);

/// The plugin's functions, opened at the first call and never closed. Fails
/// with a sentence when the plugin is missing or of another version; the next
/// call tries again. Safe from any thread.
expected<const potluck_tokenizer_interface*> tokenizer_library();

} // namespace potluck
