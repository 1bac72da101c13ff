/// Where `potluck-tokenizer` is, the program that contains SentencePiece.
#pragma once

#include <string>
#include <vector>

#include "messages/expected.hpp"

namespace potluck {

/// Where the program may be, in order: what the environment variable
/// POTLUCK_TOKENIZER names, and nowhere else when it is set; beside the
/// executable; where this build puts it, or installs it.
std::vector<std::string> tokenizer_program_candidates();

/// The first of the candidates that can be executed. Fails with a sentence when
/// there is none.
expected<std::string>
find_tokenizer_program(const std::vector<std::string>& candidates);

} // namespace potluck
