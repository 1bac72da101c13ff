/// Samples of a text. Private to models/, since it includes LibTorch.
#pragma once

#include "models/source_kind.hpp"

namespace potluck {

/// Masked words of a text (BERT, Devlin et al. 2019). Evaluation looks at the
/// same text: give `potluck eval` another one.
source_kind masked_text();

} // namespace potluck
