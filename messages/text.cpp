#include "messages/check.hpp"

namespace potluck {

namespace {

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7f;
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
    if (size == 0 || is_control(static_cast<unsigned char>(x[0])))
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
    else if (is_control(static_cast<unsigned char>(x[0])))
      result += ' ';
    else
      result.append(x.substr(0, size));
    x.remove_prefix(taken);
  }
  return result;
}

} // namespace potluck
