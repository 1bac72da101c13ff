/// Labelled grey images in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace potluck {

struct image_set {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  /// [images, rows, columns], 0 (black) to 255.
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels; ///< One an image.

  std::size_t size() const {
    return labels.size();
  }
  std::size_t values() const {
    return std::size_t{rows} * columns;
  }
  const std::uint8_t* image(std::size_t i) const {
    return pixels.data() + i * values();
  }
};

} // namespace potluck
