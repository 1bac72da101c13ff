/// SentencePiece, and nothing else: learns models, opens one, encodes with it.
/// The only header of the program that knows no sandbox.
///
/// Texts get the tokens that Hugging Face's AlbertTokenizer gives them with
/// `do_lower_case` false and `keep_accents` true: a special piece that is
/// written out, `<unk>` for instance, is that piece; `` and '' are a quotation
/// mark.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "messages/expected.hpp"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace potluck {

/// The bytes of a model of at most so many pieces. Fails with SentencePiece's
/// reason, for instance where `vocabulary` is less than the letters need.
expected<std::string> learn_word_pieces(const std::vector<std::string>& texts,
                                        std::uint32_t vocabulary);

/// A model that is open.
class word_pieces {
public:
  /// Fails where the bytes are none that `learn_word_pieces` could have given.
  static expected<word_pieces> open(const std::string& bytes);
  word_pieces(word_pieces&&) noexcept;
  word_pieces& operator=(word_pieces&&) noexcept;
  ~word_pieces();

  std::uint32_t vocabulary() const;
  /// Throws std::runtime_error where SentencePiece fails.
  std::vector<int> encode(std::string_view text) const;

private:
  word_pieces();

  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
};

} // namespace potluck
