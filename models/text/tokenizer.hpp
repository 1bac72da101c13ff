/// Text to token numbers and back: a unigram language model of word pieces
/// (Kudo 2018), by SentencePiece.
///
/// SentencePiece lives in a shared object of its own, found and opened at the
/// first use (models/tokenizer_plugin/README.md says why and where). Learning
/// is a function of the text: same text, same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "messages/expected.hpp"

namespace potluck {

/// Tokens with a meaning of their own: the first five numbers of every
/// vocabulary. Text never encodes to them, but for `unknown`.
namespace special_token {
constexpr std::int32_t padding = 0;   ///< <pad>
constexpr std::int32_t unknown = 1;   ///< <unk>: a character without a piece.
constexpr std::int32_t begin = 2;     ///< [CLS]
constexpr std::int32_t separator = 3; ///< [SEP]
constexpr std::int32_t mask = 4;      ///< [MASK]
constexpr std::int32_t count = 5;
} // namespace special_token

/// Safe to use from many threads at once.
class tokenizer {
public:
  /// Learns from a sample of `text` (see training_sentences.hpp) and returns
  /// the model's bytes. The vocabulary comes out smaller than `vocabulary` when
  /// the text has not enough different pieces; it is never larger.
  static expected<std::string> learn(const std::string& text,
                                     unsigned vocabulary);

  /// Fails on bytes that `learn` cannot have written.
  static expected<std::unique_ptr<tokenizer>>
  open(const std::string& model_bytes);

  ~tokenizer();
  tokenizer(const tokenizer&) = delete;
  tokenizer& operator=(const tokenizer&) = delete;

  /// Line by line, so a piece never spans a line's end. White space collapses
  /// and characters are normalized (NFKC). Throws std::runtime_error when
  /// SentencePiece fails, which no text is known to cause.
  std::vector<std::int32_t> encode(std::string_view text) const;

  /// Special tokens and numbers out of range leave no trace, but for <unk>.
  std::string decode(const std::vector<std::int32_t>& ids) const;

  /// Pieces, special tokens included.
  unsigned vocabulary() const;

private:
  explicit tokenizer(void* handle) : handle_(handle) {
  }

  void* handle_; ///< The plugin's.
};

} // namespace potluck
