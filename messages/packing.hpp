/// How values are written in a body, and how long that is. What the bytes mean
/// is told in runtime/packing/README.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace potluck {

/// The values are on the wire: append only.
enum class packing : std::uint8_t {
  float32 = 0,  ///< Little-endian IEEE 754 binary32.
  float16 = 1,  ///< Blocks of binary16 with a scale each.
  bfloat16 = 2, ///< The upper half of binary32.
  int8 = 3,     ///< Blocks of bytes with a scale each.
};

/// Values that share a scale.
constexpr std::size_t packing_block = 1024;

/// Bytes that `values` values take. An unknown packing counts as float32.
constexpr std::size_t packed_bytes(packing how, std::size_t values) {
  const std::size_t scales
      = sizeof(float) * ((values + packing_block - 1) / packing_block);
  switch (how) {
    case packing::float32:
      break;
    case packing::float16:
      return 2 * values + scales;
    case packing::bfloat16:
      return 2 * values;
    case packing::int8:
      return values + scales;
  }
  return sizeof(float) * values;
}

} // namespace potluck
