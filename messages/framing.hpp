/// A frame on a byte stream: a fixed preamble, a head (a FlatBuffers message)
/// and a body (raw bytes). Fed bytes, does no I/O.
///
///     offset  size  field
///     0       4     magic "PLK3"
///     4       4     head size, little-endian, 1 to max_head_bytes
///     8       4     body size, little-endian, 0 to max_body_bytes
///     12      8     checksum, little-endian: XXH3 (64 bits, seed 0) over the
///                   twelve bytes before it, the head and, unless the body is
///                   empty, the body's digest (XXH3, 128 bits)
///     20      ...   head, then body
///
/// TCP's own sum has 16 bits: of the damage that reaches it, one piece in
/// 65,536 gets through. The checksum is no signature: whoever wants to change a
/// frame can compute it, too. Below TLS, which authenticates every record, it
/// is 0 and not looked at. Who needs the body's digest for something else, too,
/// need not make it twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "messages/ids.hpp"

namespace potluck {

constexpr std::size_t preamble_bytes = 20;
constexpr std::uint32_t max_head_bytes = 1u << 20;  ///< 1 MiB
constexpr std::uint32_t max_body_bytes = 16u << 20; ///< 16 MiB

struct preamble {
  std::uint32_t head_size = 0;
  std::uint32_t body_size = 0;
  std::uint64_t checksum = 0;
};

/// The preamble of the frame of these bytes. Reads them once, copies nothing.
/// @param body May be null when `body_size` is zero.
/// @param body_digest If it is known already; then the body is not read.
preamble preamble_for(const std::uint8_t* head, std::size_t head_size,
                      const std::uint8_t* body, std::size_t body_size,
                      const digest& body_digest = {});

/// Whether head and body are those that `x` announces, bit for bit. Their sizes
/// are those in `x`.
/// @param body_digest If not null, is the body's afterwards; empty when it has
/// none.
bool intact(const preamble& x, const std::uint8_t* head,
            const std::uint8_t* body, digest* body_digest = nullptr);

std::array<std::uint8_t, preamble_bytes> write_preamble(const preamble& x);

/// Nothing when the magic is wrong or a size is outside its limits: checked
/// before a byte is allocated.
std::optional<preamble> read_preamble(const std::uint8_t* bytes);

} // namespace potluck
