/// The sentences of a text that a tokenizer learns from.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace potluck {

/// SentencePiece leaves out longer sentences, so longer lines are cut.
constexpr std::size_t max_sentence_bytes = 2000;

/// Learning takes about a second for each MiB on one core.
constexpr std::size_t max_training_bytes = std::size_t{4} << 20;

/// Calls `visit` with every sentence: a line, or a part of a line that is
/// longer than `longest` bytes, cut behind a space where there is one and never
/// inside a UTF-8 sequence. Lines without a visible character are left out.
template <class Visit>
void for_each_sentence(std::string_view text, std::size_t longest,
                       Visit visit) {
  while (!text.empty()) {
    auto size = text.find('\n');
    std::size_t skip = 1;
    if (size == std::string_view::npos) {
      size = text.size();
      skip = 0;
    }
    if (size > longest) {
      size = longest;
      skip = 0;
      const auto space = text.substr(0, size).rfind(' ');
      if (space != std::string_view::npos && space > 0)
        size = space + 1;
      else
        for (auto back = 0; back < 3 && size > 1; ++back, --size)
          if ((static_cast<unsigned char>(text[size]) & 0xC0) != 0x80)
            break;
    }
    const auto sentence = text.substr(0, size);
    if (sentence.find_first_not_of(" \t\r\f\v") != std::string_view::npos)
      visit(sentence);
    text.remove_prefix(size + skip);
  }
}

/// About `byte_limit` bytes of sentences, evenly spread over `text`; all of
/// them when the text is not longer. The views point into `text`.
std::vector<std::string_view> training_sentences(std::string_view text,
                                                 std::size_t byte_limit
                                                 = max_training_bytes);

} // namespace potluck
