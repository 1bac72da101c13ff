/// A batch as the arguments of a script's forward. Private to models/, since it
/// includes LibTorch.
#pragma once

#include <string>
#include <vector>

#include "models/sample_source.hpp"

namespace potluck {

/// A tensor for each of these names, which `samples_for` knows; contiguous.
std::vector<at::Tensor> inputs_of(const std::vector<std::string>& names,
                                  const labelled_batch& batch,
                                  std::uint64_t samples);

} // namespace potluck
