/// The text to train on, read from a file or from a folder of files.
///
/// Every peer of a run that is given the same files reads the same bytes: a
/// folder's files come in the order of their paths, whatever the file system
/// says. Knows nothing of tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/expected.hpp"

namespace potluck {

/// 1 GiB. The text and its tokens stay in memory: about five bytes for each
/// byte of text while a trainer opens, two afterwards.
constexpr std::uint64_t max_corpus_bytes = std::uint64_t{1} << 30;

/// What some bytes are, judged by all of them.
enum class text_kind {
  text,   ///< UTF-8, but for one byte in a hundred at most.
  utf16,  ///< Begins with UTF-16's byte order mark.
  binary, ///< Contains a zero byte, or too much that is not UTF-8.
};

text_kind kind_of_text(std::string_view bytes);

/// The text at `path`. A file must be text. Of a folder, all files below it are
/// read in the order of their paths, each ending in a line feed; links, hidden
/// files and folders, and files that are empty or no text are left out.
///
/// Fails with a sentence when nothing is there, nothing is left, or the text is
/// longer than `limit` bytes.
expected<std::string> read_corpus(const std::string& path,
                                  std::uint64_t limit = max_corpus_bytes);

} // namespace potluck
