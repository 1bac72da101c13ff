#include "runtime/numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace potluck {

std::string readable(double x, int digits) {
  if (!std::isfinite(x))
    return "-";
  char buffer[64];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), x,
                              std::chars_format::general, digits);
  std::string text(buffer, result.ptr);
  return text == "-0" ? "0" : text;
}

std::string readable_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e12)
    return "-";
  auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  auto text = [](std::uint64_t x) { return std::to_string(x); };
  if (whole < 120)
    return text(whole) + " s";
  if (whole < 2 * 3600)
    return text((whole + 30) / 60) + " min";
  auto minutes = (whole + 30) / 60;
  return text(minutes / 60) + " h " + text(minutes % 60) + " min";
}

std::size_t columns_of(const std::string& text) {
  std::size_t columns = 0;
  for (unsigned char c : text)
    columns += (c & 0xc0) != 0x80;
  return columns;
}

std::string harmless(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    // C1 controls, U+0080 to U+009F, are two bytes.
    bool c1 = c == 0xc2 && i + 1 < text.size()
              && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    result += c < 0x20 || c == 0x7f || c1 ? '?' : text[i];
    i += c1;
  }
  return result;
}

} // namespace potluck
