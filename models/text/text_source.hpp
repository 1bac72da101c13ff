/// Samples of a text. Private to models/, since it includes LibTorch.
#pragma once

#include "models/source_kind.hpp"
#include "models/text/sample_stream.hpp"
#include "models/text/token_windows.hpp"

namespace potluck {

// Evaluation looks at the same text: give `potluck eval` another one.

/// Masked words of a text (BERT, Devlin et al. 2019).
source_kind masked_text();
/// Samples are windows, of which every token is predicted from those before it.
source_kind running_text();

// The same of tokens that are here.
std::unique_ptr<sample_source> make_masked_source(sample_stream stream);
std::unique_ptr<sample_source> make_next_token_source(token_windows windows);

} // namespace potluck
