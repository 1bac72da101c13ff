/// Numbers and texts as people read and write them, whatever the locale.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace potluck {

/// The whole of `text` as a number; false if it is none, or too large.
template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, out);
  return problem == std::errc{} && rest == end;
}

/// At most `digits` significant digits, without trailing zeros: "6.125",
/// "1.8e-05". "-" for what is not finite.
std::string readable(double x, int digits = 4);

/// "12 s", "3 min", "1 h 20 min"; "-" for what is negative or not finite.
std::string readable_seconds(double seconds);

/// Columns that `text` takes on a terminal: its UTF-8 code points.
std::size_t columns_of(const std::string& text);

/// Control characters, which could drive a terminal, replaced by '?'. Names
/// come from strangers.
std::string harmless(const std::string& text);

} // namespace potluck
