/// What passes between a sandboxed program and whoever started it: frames of a
/// kind (1 byte), a size (4 bytes, little-endian) and a body. README.md has the
/// conversation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/state/little_endian.hpp"

namespace potluck::sandbox {

/// The descriptor of its end in the sandboxed program.
constexpr int channel = 3;
/// Likewise of the memory that its owner lends it, if any; a program maps it
/// before it confines itself.
constexpr int lent_memory = 4;

constexpr std::size_t frame_head_bytes = 5;

/// Of a frame from the sandboxed program. Those to it have kinds of the
/// program's own.
enum class answer_kind : std::uint8_t {
  done,          ///< The greeting, or what was asked for.
  refused,       ///< The body is the reason.
  out_of_memory, ///< What was asked for needs more than the limit.
  unconfined,    ///< Said in place of the greeting; the body is the reason.
};

inline std::string frame_head(std::uint8_t kind, std::size_t body_bytes) {
  std::string result(1, static_cast<char>(kind));
  append_little_endian(result, static_cast<std::uint32_t>(body_bytes));
  return result;
}

} // namespace potluck::sandbox
