/// The networks that this build knows, each in a file of its own. Private to
/// this folder, since it includes LibTorch.
#pragma once

#include "models/network.hpp"

namespace potluck {

// Precondition of all: `problem_with(settings)` is empty, and of those that
// call experts `problem_with_experts` too.
std::unique_ptr<network> make_albert(const run_settings& settings,
                                     const network_surroundings& around);
std::unique_ptr<network> make_albert_dmoe(const run_settings& settings,
                                          const network_surroundings& around);
std::unique_ptr<network> make_gpt(const run_settings& settings,
                                  const network_surroundings& around);
std::unique_ptr<network> make_mnist_dmoe(const run_settings& settings,
                                         const network_surroundings& around);
std::unique_ptr<network> make_mnist_ffn(const run_settings& settings,
                                        const network_surroundings& around);

/// MNIST's images: 28 by 28 pixels, ten digits.
struct mnist_shape {
  static constexpr std::uint32_t side = 28;
  static constexpr std::uint32_t pixels = side * side;
  static constexpr std::uint32_t classes = 10;
};

} // namespace potluck
