#include "models/text/tokenizer_answers.hpp"

#include "models/text/tokenizer.hpp"
#include "runtime/manifest/byte_reader.hpp"

namespace potluck {

std::optional<unsigned> read_vocabulary(std::string_view answer) {
  byte_reader from{answer};
  const auto vocabulary = from.integer<std::uint32_t>();
  if (!from.done() || vocabulary <= special_token::count
      || vocabulary > INT32_MAX)
    return std::nullopt;
  return vocabulary;
}

bool append_tokens(std::vector<std::int32_t>& out, std::string_view answer,
                   unsigned vocabulary, std::size_t most) {
  const auto count = answer.size() / sizeof(std::int32_t);
  if (answer.size() % sizeof(std::int32_t) != 0 || out.size() + count > most)
    return false;
  byte_reader from{answer};
  while (!from.done()) {
    const auto token = from.integer<std::uint32_t>();
    if (token >= vocabulary)
      return false;
    out.push_back(static_cast<std::int32_t>(token));
  }
  return true;
}

} // namespace potluck
