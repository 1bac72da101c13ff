#include "runtime/packing/packing.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "messages/digest_stream.hpp"
#include "runtime/packing/float_bits.hpp"
#include "runtime/packing/halves.hpp"
#include "runtime/recycled_memory.hpp"
#include "runtime/wide_loops.hpp"

namespace potluck {

namespace {

/// Adding and subtracting it rounds a float below 2^22 to a whole number, ties
/// to even.
constexpr float rounder = 12582912.0f; // 1.5 * 2^23

constexpr std::array<const char*, 4> names{"float32", "float16", "bfloat16",
                                           "int8"};

std::size_t blocks_of(std::size_t count) {
  return (count + packing_block - 1) / packing_block;
}

// ---- bfloat16 --------------------------------------------------------------

POTLUCK_WIDE void to_brains(const float* values, std::size_t count,
                            std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    auto odd = (bits >> 16) & 1;
    auto rounded = (bits + 0x7fffu + odd) >> 16;
    // What would round to infinity stays at the largest number.
    rounded = (rounded & 0x7f80u) == 0x7f80u ? bits >> 16 : rounded;
    auto half = static_cast<std::uint16_t>(rounded);
    std::memcpy(out + 2 * i, &half, sizeof(half));
  }
}

POTLUCK_WIDE bool from_brains(const std::uint8_t* bytes, std::size_t count,
                              float* out) {
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t half;
    std::memcpy(&half, bytes + 2 * i, sizeof(half));
    auto bits = std::uint32_t{half} << 16;
    bad |= static_cast<std::uint32_t>((bits & exponent_mask) == exponent_mask);
    std::memcpy(out + i, &bits, sizeof(bits));
  }
  return bad == 0;
}

// ---- int8 ------------------------------------------------------------------

/// @param factor 1 / scale: a division takes several times as long.
POTLUCK_WIDE void to_bytes(const float* values, std::size_t count, float factor,
                           std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    // At most 127 and a few roundings' worth: no value exceeds 127 * scale by
    // more.
    auto whole = (values[i] * factor + rounder) - rounder;
    out[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(whole));
  }
}

POTLUCK_WIDE void from_bytes(const std::uint8_t* bytes, std::size_t count,
                             float scale, float* out) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(static_cast<std::int8_t>(bytes[i])) * scale;
}

POTLUCK_WIDE void add_bytes(const float* before, const std::uint8_t* bytes,
                            std::size_t count, float scale, float factor,
                            float* sum) {
#ifndef __clang__
#pragma GCC ivdep // `sum` may be `before`.
#endif
  for (std::size_t i = 0; i < count; ++i)
    sum[i] = (before[i]
              + static_cast<float>(static_cast<std::int8_t>(bytes[i])) * scale)
             * factor;
}

/// Whatever signed byte is multiplied by it.
bool never_beyond(float scale, float most) {
  return scale <= most / 128;
}

/// Of a block: largest / 127, or 0 where that is too small to divide by.
float byte_scale(std::uint32_t largest) {
  auto scale = float_of(largest) / 127.0f;
  if (bits_of(scale * 127.0f) >= exponent_mask)
    scale = float_of(bits_of(scale) - 1); // It was rounded up.
  return bits_of(scale) < (1u << 23) ? 0.0f : scale;
}

// ---- blocks ----------------------------------------------------------------

/// Calls `each(first value, values, scale's bytes)` for every block.
template <class Each>
void for_blocks(std::size_t count, std::uint8_t* scales, const Each& each) {
  for (std::size_t first = 0; first < count; first += packing_block) {
    each(first, std::min(packing_block, count - first), scales);
    scales += sizeof(float);
  }
}

void pack_halves(const float* values, std::size_t count, std::uint8_t* out) {
  auto* halves = out + blocks_of(count) * sizeof(float);
  for_blocks(count, out,
             [&](std::size_t first, std::size_t size, std::uint8_t* where) {
               auto scale = half_scale(largest_magnitude(values + first, size));
               std::memcpy(where, &scale, sizeof(scale));
               to_halves(values + first, size, scale == 0 ? 0 : 1 / scale,
                         halves + 2 * first);
             });
}

void pack_bytes(const float* values, std::size_t count, std::uint8_t* out) {
  auto* bytes = out + blocks_of(count) * sizeof(float);
  for_blocks(count, out,
             [&](std::size_t first, std::size_t size, std::uint8_t* where) {
               auto scale = byte_scale(largest_magnitude(values + first, size));
               std::memcpy(where, &scale, sizeof(scale));
               if (scale == 0)
                 std::memset(bytes + first, 0, size);
               else
                 to_bytes(values + first, size, 1 / scale, bytes + first);
             });
}

/// Zero, or a normal positive number.
bool may_be_scale(float x) {
  auto bits = bits_of(x);
  return bits == 0 || (bits >= (1u << 23) && bits < exponent_mask);
}

/// The scale of the block that begins with value `first`.
float scale_at(const std::uint8_t* scales, std::size_t first) {
  float scale;
  std::memcpy(&scale, scales + first / packing_block * sizeof(scale),
              sizeof(scale));
  return scale;
}

/// As `for_blocks`, with the scales read; false when one cannot be.
template <class Each>
bool unpack_blocks(std::size_t count, const std::uint8_t* scales,
                   const Each& each) {
  bool well = true;
  for (std::size_t first = 0; well && first < count; first += packing_block) {
    auto scale = scale_at(scales, first);
    well = may_be_scale(scale)
           && each(first, std::min(packing_block, count - first), scale);
  }
  return well;
}

/// Unpacks halves or signed bytes block by block to `room(first value)`, and
/// calls `done(first value, values)` for each; false when a value is not
/// finite, or a scale cannot be.
template <class Room, class Done>
bool unpack_scaled(packing how, const std::uint8_t* bytes, std::size_t count,
                   const Room& room, const Done& done) {
  auto* values = bytes + blocks_of(count) * sizeof(float);
  return unpack_blocks(
      count, bytes, [&](std::size_t first, std::size_t size, float scale) {
        float* out = room(first);
        bool well = true;
        if (how == packing::float16) {
          well = from_halves(values + 2 * first, size, scale, out)
                 && all_finite(out, size);
        } else {
          from_bytes(values + first, size, scale, out);
          well = never_beyond(scale, std::numeric_limits<float>::max())
                 || all_finite(out, size);
        }
        done(first, size);
        return well;
      });
}

} // namespace

void pack(packing how, const float* values, std::size_t count,
          std::uint8_t* out) {
  if (count == 0)
    return; // Nothing may be copied from nowhere.
  switch (how) {
    case packing::float32:
      std::memcpy(out, values, count * sizeof(float));
      break;
    case packing::float16:
      pack_halves(values, count, out);
      break;
    case packing::bfloat16:
      to_brains(values, count, out);
      break;
    case packing::int8:
      pack_bytes(values, count, out);
      break;
  }
}

bool unpack(packing how, const std::uint8_t* bytes, std::size_t size,
            float* out, std::size_t count) {
  if (size != packed_bytes(how, count))
    return false;
  if (count == 0)
    return true;
  switch (how) {
    case packing::float32:
      // The kernel and `pack` leave bodies aligned.
      if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(float) == 0)
        return copy_finite(out, reinterpret_cast<const float*>(bytes), count);
      std::memcpy(out, bytes, size);
      return all_finite(out, count);
    case packing::float16:
    case packing::int8:
      return unpack_scaled(
          how, bytes, count, [&](std::size_t first) { return out + first; },
          [](std::size_t, std::size_t) {});
    case packing::bfloat16:
      return from_brains(bytes, count, out);
  }
  return false;
}

std::optional<digest> unpack_in_place(packing how, const shared_bytes& body,
                                      float* out, std::size_t count,
                                      writing way) {
  if (body.size != packed_bytes(how, count))
    return std::nullopt;
  const auto far = way == writing::past_caches;
  const auto aligned
      = reinterpret_cast<std::uintptr_t>(body.data) % alignof(float) == 0;
  if (far && how == packing::float32 && aligned) {
    auto* values = reinterpret_cast<const float*>(body.data);
    if (!copy_finite(out, values, count, way))
      return std::nullopt;
    return digest_of(body);
  }
  if (far && (how == packing::float16 || how == packing::int8)) {
    digest_stream sum;
    alignas(64) float block[packing_block];
    auto well = unpack_scaled(
        how, body.data, count, [&](std::size_t) { return block; },
        [&](std::size_t first, std::size_t size) {
          sum.add(block, size * sizeof(float));
          copy(out + first, block, size, way);
        });
    return well ? std::optional{sum.result()} : std::nullopt;
  }
  if (!unpack(how, body.data, body.size, out, count))
    return std::nullopt;
  return how == packing::float32 ? digest_of(body)
                                 : digest_of(out, count * sizeof(float));
}

namespace {

shared_bytes packed_copy(packing how, const float* values, std::size_t count) {
  auto bytes = std::make_shared<byte_array>();
  bytes->resize(packed_bytes(how, count));
  pack(how, values, count, bytes->data());
  const auto* data = bytes->data();
  const auto size = bytes->size();
  return {std::move(bytes), data, size};
}

} // namespace

bool surely_within(packing how, const std::uint8_t* bytes, std::size_t size,
                   std::size_t count, float most) {
  return how == packing::int8 && size == packed_bytes(how, count)
         && unpack_blocks(count, bytes,
                          [&](std::size_t, std::size_t, float scale) {
                            return never_beyond(scale, most);
                          });
}

void add_unpacked(packing how, const std::vector<const std::uint8_t*>& bodies,
                  const float* before, float* sum, std::size_t count,
                  float factor) {
  if (how != packing::int8)
    throw std::invalid_argument{"Only int8 is added as it is."};
  const auto values = blocks_of(count) * sizeof(float);
  for (std::size_t first = 0; first < count; first += packing_block) {
    auto size = std::min(packing_block, count - first);
    for (std::size_t i = 0; i < bodies.size(); ++i)
      add_bytes((i == 0 ? before : sum) + first, bodies[i] + values + first,
                size, scale_at(bodies[i], first),
                i + 1 == bodies.size() ? factor : 1, sum + first);
  }
}

shared_bytes packed_body(packing how, std::shared_ptr<const void> owner,
                         const float* values, std::size_t count) {
  if (how == packing::float32)
    return {std::move(owner), reinterpret_cast<const std::uint8_t*>(values),
            count * sizeof(float)};
  return packed_copy(how, values, count);
}

shared_bytes pack_and_round(packing how, const float* values, std::size_t count,
                            float* rounded) {
  auto body = packed_copy(how, values, count);
  if (!unpack(how, body.data, body.size, rounded, count))
    throw std::invalid_argument{"Only finite values can be packed."};
  return body;
}

double packing_error(packing how, double value, double largest) {
  // Below the smallest normal float scales can do nothing.
  constexpr double tiny = std::numeric_limits<float>::min();
  switch (how) {
    case packing::float32:
      break;
    case packing::float16:
      return std::max({value * 0x1p-11, largest * 0x1p-25, tiny * 0x1p-24});
    case packing::bfloat16:
      return std::max(value, tiny) * 0x1p-8;
    case packing::int8:
      return std::max(largest / 254 * (1 + 0x1p-14), tiny * 127);
  }
  return 0;
}

std::string to_string(packing x) {
  return names.at(static_cast<std::size_t>(x));
}

std::optional<packing> packing_named(const std::string& name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i])
      return static_cast<packing>(i);
  return std::nullopt;
}

} // namespace potluck
