/// LibTorch's own Adam, as the yardstick of `potluck bench optimizer`.
#pragma once

#include <cstdint>
#include <vector>

namespace potluck {

/// Seconds of each of `steps` updates of `values` float32 parameters, in
/// tensors of at most `tensor_values`, after one that is not counted.
std::vector<double> time_adam(std::uint64_t values, std::uint64_t tensor_values,
                              unsigned threads, unsigned steps);

} // namespace potluck
