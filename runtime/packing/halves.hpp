/// Floats to scaled halves (IEEE 754 binary16) and back.
///
/// The processor's own conversions are used where it has them; the bits are the
/// same without.
#pragma once

#include <cstddef>
#include <cstdint>

namespace potluck {

/// The power of two that brings `largest` between 2^14 and 2^15; 0 for zero.
/// @param largest The bits of the largest magnitude of a block.
float half_scale(std::uint32_t largest);

/// @param factor 1 / scale. @param out Two bytes a value, at any address.
void to_halves(const float* values, std::size_t count, float factor,
               std::uint8_t* out);

/// @returns Whether all halves are finite; their products may be infinite.
bool from_halves(const std::uint8_t* bytes, std::size_t count, float scale,
                 float* out);

} // namespace potluck
