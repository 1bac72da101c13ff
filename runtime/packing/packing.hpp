/// Values to bodies and back, in the four forms of runtime/packing/README.md.
///
/// Pure; the same bits on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/message.hpp"
#include "messages/packing.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

/// @param values Finite. @param out `packed_bytes(how, count)` bytes, at any
/// address.
void pack(packing how, const float* values, std::size_t count,
          std::uint8_t* out);

/// @param bytes At any address.
/// @param out `count` floats; anything when false is returned.
/// @returns Whether `size` bytes are what `pack` makes of `count` finite
/// values.
bool unpack(packing how, const std::uint8_t* bytes, std::size_t size,
            float* out, std::size_t count);

/// `unpack` into a place of a larger vector, and the digest of the values;
/// nothing where it would return false.
/// @param way Past the caches the values are hashed before they leave these.
std::optional<digest> unpack_in_place(packing how, const shared_bytes& body,
                                      float* out, std::size_t count,
                                      writing way);

/// Whether `unpack` would return true and make no value beyond `most`, as far
/// as the scales tell: only int8's do.
bool surely_within(packing how, const std::uint8_t* bytes, std::size_t size,
                   std::size_t count, float most);

/// sum[i] = (before[i] + what `unpack` makes of each body in turn) * factor, in
/// one pass over memory. `sum` may be `before`. Only for what is
/// `surely_within` anything.
void add_unpacked(packing how, const std::vector<const std::uint8_t*>& bodies,
                  const float* before, float* sum, std::size_t count,
                  float factor = 1);

/// The body of a frame with these values: packed in memory of its own, or as
/// they lie there when they are to go as float32.
/// @param owner Keeps the values alive.
shared_bytes packed_body(packing how, std::shared_ptr<const void> owner,
                         const float* values, std::size_t count);

/// A body of its own, and what others will unpack from it.
/// @param values Finite.
/// @param rounded Room for as many floats; may be where the values are.
shared_bytes pack_and_round(packing how, const float* values, std::size_t count,
                            float* rounded);

/// By how much a value may be off after packing and unpacking.
/// @param value Its magnitude. @param largest That of its block's largest.
double packing_error(packing how, double value, double largest);

/// "float32", "float16", "bfloat16", "int8".
std::string to_string(packing x);
std::optional<packing> packing_named(const std::string& name);

} // namespace potluck
