/// What `potluck-tokenizer` answers, read: whatever it is, since a stranger's
/// model may have taken the program over. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace potluck {

/// Of a model that was opened: larger than the special tokens are many, and
/// every token is a token's type. Nothing: it is no vocabulary.
std::optional<unsigned> read_vocabulary(std::string_view answer);

/// Appends the tokens of texts; false when these are no tokens of the
/// vocabulary, or would be more than `most` in all.
bool append_tokens(std::vector<std::int32_t>& out, std::string_view answer,
                   unsigned vocabulary, std::size_t most);

} // namespace potluck
