/// Samples of images. Private to models/, since it includes LibTorch.
#pragma once

#include "models/source_kind.hpp"

namespace potluck {

/// Images of handwritten digits, MNIST's or drawn.
source_kind digit_images();

/// MNIST's images: 28 by 28 pixels, ten digits.
struct mnist_shape {
  static constexpr std::uint32_t side = 28;
  static constexpr std::uint32_t pixels = side * side;
  static constexpr std::uint32_t classes = 10;
};

} // namespace potluck
