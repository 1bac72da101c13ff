/// Text to token numbers: a unigram language model of word pieces (Kudo 2018),
/// by SentencePiece.
///
/// SentencePiece lives in a program of its own, `potluck-tokenizer`, which is
/// confined (runtime/sandbox) before it reads a model: that of a run comes from
/// strangers. Learning is a function of the text: same text, same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/sandbox/sandboxed_program.hpp"

namespace potluck {

/// Tokens with a meaning of their own: the first five numbers of every
/// vocabulary. A text encodes to them where they are written out in it.
namespace special_token {
constexpr std::int32_t padding = 0;   ///< <pad>
constexpr std::int32_t unknown = 1;   ///< <unk>: a character without a piece.
constexpr std::int32_t begin = 2;     ///< [CLS]
constexpr std::int32_t separator = 3; ///< [SEP]
constexpr std::int32_t mask = 4;      ///< [MASK]
constexpr std::int32_t count = 5;
} // namespace special_token

/// Safe to use from many threads at once, of which one at a time encodes. The
/// thread that opened it lives as long as it.
class tokenizer {
public:
  /// Learns from a sample of `text` (see training_sentences.hpp) and returns
  /// the model's bytes. The vocabulary comes out smaller than `vocabulary` when
  /// the text has not enough different pieces; it is never larger.
  static expected<std::string> learn(const std::string& text,
                                     unsigned vocabulary);

  /// Fails with a sentence on bytes that `learn` cannot have written, also on
  /// those that SentencePiece does not survive, and where the kernel refuses to
  /// confine it.
  static expected<std::unique_ptr<tokenizer>>
  open(const std::string& model_bytes);

  /// Line by line, so a piece never spans a line's end. White space collapses
  /// and characters are normalized (NFKC). A program that dies meanwhile is
  /// started again, once. Throws std::runtime_error with a sentence when it
  /// dies once more, fails, or gives more tokens than the text can have.
  std::vector<std::int32_t> encode(std::string_view text) const;

  /// Pieces, special tokens included.
  unsigned vocabulary() const {
    return vocabulary_;
  }

private:
  tokenizer(std::string model, unsigned vocabulary, sandboxed_program program)
      : model_(std::move(model)), vocabulary_(vocabulary),
        program_(std::move(program)) {
  }
  std::string encode_batch(const std::string& texts) const;

  const std::string model_; ///< For the program that is started again.
  const unsigned vocabulary_;
  mutable std::mutex mutex_; ///< Of what follows.
  mutable sandboxed_program program_;
  mutable bool started_again_ = false;
};

} // namespace potluck
