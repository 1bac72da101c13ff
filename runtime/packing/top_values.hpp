/// The largest values of each block, and where they stand: the packing `topk`
/// of runtime/packing/README.md.
///
/// Pure; the same bits on every machine. Who sends so little of a gradient
/// should keep the rest for the next one
/// (runtime/averaging/error_feedback.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace potluck {

/// @param values Finite. @param out `packed_bytes(packing::topk, count)` bytes,
/// at any address.
void pack_top_values(const float* values, std::size_t count, std::uint8_t* out);

/// @param bytes `packed_bytes(packing::topk, count)` of them, at any address.
/// @param out `count` floats; anything when false is returned.
/// @returns Whether `pack_top_values` could have made the bytes.
bool unpack_top_values(const std::uint8_t* bytes, float* out,
                       std::size_t count);

} // namespace potluck
