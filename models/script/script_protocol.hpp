/// What `potluck-script` is asked, and the limits on it. Frames and outcomes
/// are those of runtime/sandbox. Torch-free.
///
/// Texts go with their length, 4 bytes, in front. The program's words are a
/// stranger's: the file that it runs may have taken it over.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "runtime/manifest/byte_reader.hpp"

namespace potluck::scripting {

using namespace std::chrono_literals;

/// What the program says first. The number rises with every change of what
/// follows.
constexpr char greeting[] = "potluck-script 2";

// Its arguments are bytes that it may take beside what it has when it begins;
// threads that compute; and bytes of the lent memory, 0 for none.

enum class request : std::uint8_t {
  /// A byte, whether the run averages buffers, and a file as a person has it:
  /// forward's arguments, separated by commas; the layout (`layout_text`); a
  /// file without the tensors' values; the values.
  describe,
  /// Likewise a file that is to be computed with the lent memory: arguments and
  /// layout. Once.
  open,
  /// A `pass_head` and a tensor for each argument: the loss, 8 bytes; in an
  /// evaluation each metric, its name and 8 bytes.
  pass,
};

enum class pass_kind : std::uint8_t {
  training, ///< Adds the gradient of the *sum* of the samples' losses.
  evaluation,
};

struct pass_head {
  pass_kind kind = pass_kind::training;
  std::uint64_t seed = 0;    ///< Of what is drawn.
  std::uint64_t samples = 0; ///< Whose mean the loss is.
};

enum class element : std::uint8_t { int64, float32 };

/// Of forward's answer, besides the loss.
constexpr std::size_t most_metrics = 32;
constexpr std::size_t longest_metric = 40;

/// Whether a metric of this name is shown: it is short, of letters, digits and
/// `_-./@`, and none that evaluations have of their own.
inline bool names_metric(std::string_view name) {
  constexpr std::string_view taken[]
      = {"loss", "step", "samples", "unigram", "event", "time"};
  constexpr std::string_view letters
      = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./@";
  return !name.empty() && name.size() <= longest_metric
         && name.find_first_not_of(letters) == std::string_view::npos
         && std::find(std::begin(taken), std::end(taken), name)
                == std::end(taken);
}

/// In the lent memory the parameters come first, which the program can only
/// read, and the sum of gradients begins on a page of its own.
constexpr std::size_t gradient_offset(std::uint64_t values) {
  constexpr std::size_t largest_page = 64u << 10;
  return (values * sizeof(float) + largest_page - 1) / largest_page
         * largest_page;
}
constexpr std::size_t lent_bytes(std::uint64_t values) {
  return gradient_offset(values) + values * sizeof(float);
}

/// A file, with its values.
constexpr std::size_t largest_file = std::size_t{2} << 30;
/// A file, or a batch.
constexpr std::size_t largest_request = largest_file;
/// A file's description: the values once more.
constexpr std::size_t largest_description = UINT32_MAX;
/// Everything else that is said: layouts.
constexpr std::size_t largest_answer = 16u << 20;

/// For what a micro-batch takes on the slowest machine, and for reading a file.
constexpr auto patience = 5min;

inline void append_part(std::string& out, std::string_view text) {
  append_little_endian(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

inline std::string_view next_part(byte_reader& from) {
  return from.bytes(from.integer<std::uint32_t>());
}

} // namespace potluck::scripting
