/// What `potluck-tokenizer` is asked, and the limits on it. Frames and outcomes
/// are those of runtime/sandbox.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/manifest/byte_reader.hpp"

namespace potluck::tokenizing {

using namespace std::chrono_literals;

/// What the program says first. The number rises with every change of what
/// follows.
constexpr char greeting[] = "potluck-tokenizer 1";

/// Its one argument when it learns from our own text, unconfined, since
/// SentencePiece learns on a thread.
constexpr char learning[] = "learn";

enum class request : std::uint8_t {
  learn,  ///< Vocabulary (4 bytes), texts: a model's bytes.
  open,   ///< A model's bytes: its vocabulary (4 bytes). Once.
  encode, ///< Texts: their tokens (4 bytes each), those of one after the
          ///< other's.
};

/// Text encoded at once: a switch between processes costs nothing against it.
constexpr std::size_t batch_bytes = 256u << 10;
/// The sentences learnt from, or a model: see `charter`.
constexpr std::size_t largest_request = 32u << 20;
/// A model, or the tokens of a batch: sixteen for each of its bytes.
constexpr std::size_t largest_answer = 16u << 20;

/// Of the whole confined program. The largest vocabulary takes a tenth of it.
constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 30;
/// The largest corpus takes a quarter of it on one slow core.
constexpr std::uint32_t cpu_seconds = 3600;
/// For an answer, which takes less than a second: long enough for a machine
/// that swaps or has stood still.
constexpr auto patience = 60s;
/// Likewise for learning, which takes some seconds.
constexpr auto learning_patience = 20min;

inline void append_part(std::string& out, std::string_view text) {
  append_little_endian(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

} // namespace potluck::tokenizing
