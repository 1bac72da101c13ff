/// A frame on a byte stream: a fixed preamble, a head (a FlatBuffers message)
/// and a body (raw bytes). Fed bytes, does no I/O.
///
///     offset  size  field
///     0       4     magic "PLK1"
///     4       4     head size, little-endian, 1 to max_head_bytes
///     8       4     body size, little-endian, 0 to max_body_bytes
///     12      ...   head, then body
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace potluck {

constexpr std::size_t preamble_bytes = 12;
constexpr std::uint32_t max_head_bytes = 1u << 20;  ///< 1 MiB
constexpr std::uint32_t max_body_bytes = 16u << 20; ///< 16 MiB

struct preamble {
  std::uint32_t head_size = 0;
  std::uint32_t body_size = 0;
};

std::array<std::uint8_t, preamble_bytes> write_preamble(preamble x);

/// Nothing when the magic is wrong or a size is outside its limits: checked
/// before a byte is allocated.
std::optional<preamble> read_preamble(const std::uint8_t* bytes);

} // namespace potluck
