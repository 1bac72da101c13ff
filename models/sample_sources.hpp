/// Where this build's samples come from, each in a file of its own. Private to
/// this folder, since it includes LibTorch.
#pragma once

#include "models/images/image_data.hpp"
#include "models/sample_source.hpp"
#include "models/text/sample_stream.hpp"
#include "models/text/token_windows.hpp"

namespace potluck {

// Evaluation looks at the same text: give `potluck eval` another one.
std::unique_ptr<sample_source> make_masked_source(sample_stream stream);
/// Samples are windows, of which every token is predicted from those before it.
std::unique_ptr<sample_source> make_next_token_source(token_windows windows);

/// Precondition: neither part is empty.
std::unique_ptr<sample_source> make_image_source(image_data data);

} // namespace potluck
