#include "messages/check.hpp"

namespace potluck {

namespace {

/// The code point of a character of `character_size` bytes.
char32_t point_of(std::string_view x) {
  const auto lead = static_cast<unsigned char>(x[0]);
  if (x.size() == 1)
    return lead;
  char32_t result = lead & (0x7fu >> x.size());
  for (std::size_t i = 1; i < x.size(); ++i)
    result = result << 6 | (static_cast<unsigned char>(x[i]) & 0x3fu);
  return result;
}

/// What steers a terminal, ends a line, or turns the direction of what stands
/// around it: C0, C1, and Unicode's line ends and Bidi_Control.
bool is_control(std::string_view character) {
  const auto x = point_of(character);
  return x < 0x20 || (x >= 0x7f && x <= 0x9f) || x == 0x61c || x == 0x200e
         || x == 0x200f || (x >= 0x2028 && x <= 0x202e)
         || (x >= 0x2066 && x <= 0x2069);
}

/// Bytes of the UTF-8 character at the start of `x`; 0 when there is none.
/// Overlong forms, surrogates and points above U+10FFFF are none (RFC 3629).
std::size_t character_size(std::string_view x) {
  auto at = [&](std::size_t i) { return static_cast<unsigned char>(x[i]); };
  unsigned char lead = at(0);
  if (lead < 0x80)
    return 1;
  std::size_t size = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    size = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    size = 3;
    low = lead == 0xe0 ? 0xa0 : 0x80;
    high = lead == 0xed ? 0x9f : 0xbf;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    size = 4;
    low = lead == 0xf0 ? 0x90 : 0x80;
    high = lead == 0xf4 ? 0x8f : 0xbf;
  }
  if (size == 0 || x.size() < size || at(1) < low || at(1) > high)
    return 0;
  for (std::size_t i = 2; i < size; ++i)
    if (at(i) < 0x80 || at(i) > 0xbf)
      return 0;
  return size;
}

} // namespace

bool is_text(std::string_view x) {
  while (!x.empty()) {
    auto size = character_size(x);
    if (size == 0 || is_control(x.substr(0, size)))
      return false;
    x.remove_prefix(size);
  }
  return true;
}

std::string tidy(std::string_view x, std::size_t limit) {
  std::string result;
  result.reserve(x.size() < limit ? x.size() : limit);
  while (!x.empty()) {
    auto size = character_size(x);
    auto taken = size == 0 ? 1 : size;
    if (result.size() + taken > limit)
      break;
    if (size == 0)
      result += '?';
    else if (is_control(x.substr(0, size)))
      result += ' ';
    else
      result.append(x.substr(0, size));
    x.remove_prefix(taken);
  }
  return result;
}

} // namespace potluck
