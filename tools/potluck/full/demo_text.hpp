/// Real text for the demonstration, gathered from what is on this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/expected.hpp"

namespace potluck::tools {

/// Where to look, and for what.
struct text_place {
  std::string folder;
  /// A file counts if its name starts with one of these, in small letters;
  /// without any, every file does.
  std::vector<std::string> beginnings;
};

/// What Debian installs everywhere: the full texts of the common licences, then
/// what packages say of themselves.
std::vector<text_place> usual_text_places();

struct text_limits {
  std::uint64_t wanted = 320 << 10; ///< Bytes after which no more are gathered.
  std::uint64_t needed = 64 << 10;  ///< Bytes below which training is no use.
  std::uint64_t longest = 128 << 10; ///< Bytes of a file; longer ones are cut.
};

struct gathered_text {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

/// Copies texts from the places, in their order and by path, into the folder
/// `into`, which it makes: so every run on one machine trains on the same.
///
/// Left out are links (the licences' have several names), hidden and empty
/// files, what is no UTF-8 text, and what is the same as a file before it. A
/// long file, say a changelog, is cut behind a line. Fails with a sentence when
/// too little is found or cannot be written.
expected<gathered_text> gather_text(const std::vector<text_place>& places,
                                    const std::string& into,
                                    const text_limits& limits = {});

} // namespace potluck::tools
