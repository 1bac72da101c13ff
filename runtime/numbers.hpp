/// Numbers and texts as people read them, whatever the locale.
#pragma once

#include <string>

namespace potluck {

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
