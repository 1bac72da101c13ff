/// An endless shuffled stream of masked samples, addressed by number.
///
/// A sample is a window of the tokenized text between [CLS] and [SEP], masked
/// as for BERT (Devlin et al. 2019, section 3.1). Order and masks follow from
/// the seed and the number alone, so every machine with the same text computes
/// the same sample, and computes only those it wants.
#pragma once

#include <cstdint>
#include <vector>

#include "models/text/token_windows.hpp"

namespace potluck {

struct masked_sample {
  /// `sequence_length` tokens, with the masks in place.
  std::vector<std::int32_t> tokens;
  /// Where tokens were chosen, ascending; neither first nor last. Never empty.
  std::vector<std::uint32_t> positions;
  /// What stood there.
  std::vector<std::int32_t> labels;
};

class sample_stream {
public:
  /// @param text Tokens below `vocabulary`, at least one.
  /// @param sequence_length Of a sample, at least 3.
  /// @param vocabulary More than the special tokens.
  /// @param mask_probability Share of the tokens to choose, in (0, 1].
  /// Throws std::invalid_argument on anything else.
  sample_stream(std::vector<std::int32_t> text, std::uint32_t sequence_length,
                std::uint32_t vocabulary, double mask_probability);

  /// Sample `number` of the stream that `order_seed` fixes: window `number`.
  masked_sample sample(std::uint64_t order_seed, std::uint64_t number) const;

private:
  void mask(masked_sample& x, std::uint64_t seed) const;

  token_windows windows_;
  std::uint32_t vocabulary_;
  std::uint32_t chosen_; ///< Tokens to choose of a sample.
};

} // namespace potluck
