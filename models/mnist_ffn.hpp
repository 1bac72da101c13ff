/// A dense feed-forward classifier of handwritten digits: what the
/// decentralised mixture of experts is held against.
///
/// input -> `layers` times LayerNorm(x + outer(GELU(inner(x)))) -> scores of
/// ten classes. Private to this folder, since it includes LibTorch.
#pragma once

#include "models/network.hpp"

namespace potluck {

/// MNIST's images: 28 by 28 pixels, ten digits.
struct mnist_shape {
  static constexpr std::uint32_t side = 28;
  static constexpr std::uint32_t pixels = side * side;
  static constexpr std::uint32_t classes = 10;
};

class mnist_ffn : public network {
public:
  /// Precondition: `problem_with(settings)` is empty.
  explicit mnist_ffn(const run_settings& settings);

  network_output forward(const std::vector<at::Tensor>& parameters,
                         const labelled_batch& batch) const override;

private:
  std::uint32_t layers_;
};

} // namespace potluck
