/// Where a trainer's samples come from, as tensors. Private to this folder,
/// since it includes LibTorch.
#pragma once

#include <cstdint>

#include "models/network.hpp"

namespace potluck {

/// Which samples a number means.
enum class sample_part {
  training,   ///< What gradients are computed for.
  evaluation, ///< What `trainer::evaluate` looks at; may be the same ones.
};

/// An endless shuffled stream of samples, addressed by number. May be read from
/// several threads at once.
class sample_source {
public:
  virtual ~sample_source() = default;

  /// Samples first, first + stride, ...: `count` of them, on the device.
  virtual labelled_batch gather(sample_part part, std::uint64_t order_seed,
                                std::uint64_t first, std::uint64_t stride,
                                std::uint64_t count,
                                at::Device device) const = 0;

  /// Samples that are best computed at once on such a device.
  virtual std::uint64_t usual_micro_batch(at::Device device) const = 0;
};

} // namespace potluck
