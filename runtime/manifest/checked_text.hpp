/// Bytes as text that people copy: small letters and digits that are not mixed
/// up, and a check sum that finds what goes wrong on the way.
///
/// It is Bech32m (BIP 350, alphabet and code of BIP 173) with a colon behind
/// the prefix. The code finds any three wrong characters, and so any two that
/// are swapped, in texts of up to 1,023. A text of capitals alone means the
/// same: QR codes hold it in less. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace potluck {

/// Characters of a text, the prefix included: within what the code covers.
constexpr std::size_t most_checked_characters = 1000;

/// Precondition: it is no longer than `most_checked_characters`.
std::string to_checked_text(const std::string& prefix, std::string_view bytes);

struct checked_text {
  /// What the text says; where one slip was found, what it meant to say.
  std::string bytes;
  /// What is wrong with the text, for a person; empty: nothing.
  std::string problem = {};
  /// The byte of `bytes` where a slip is, as far as is known.
  std::optional<std::size_t> at = {};
};

/// Reads what `to_checked_text` wrote. A wrong, missing, surplus or swapped
/// character is named with its place, counted from 1.
checked_text read_checked_text(const std::string& prefix,
                               std::string_view text);

} // namespace potluck
