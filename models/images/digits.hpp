/// Digits that are drawn, as a hand might: data that is always there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/images/image_set.hpp"

namespace potluck {

/// Rows and columns, as MNIST's.
constexpr std::uint32_t digit_side = 28;

/// `count` images of the digits 0 to 9, in turn: strokes that are shifted,
/// turned, sheared, scaled and bent by chance, with a pen of any width, and
/// noise. The same for the same seed, on every machine, but for the last bit of
/// a pixel.
image_set draw_digits(std::size_t count, std::uint64_t seed);

} // namespace potluck
