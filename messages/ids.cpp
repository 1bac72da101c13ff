#include "messages/ids.hpp"

#include <cstring>

#include "messages/hashing.hpp"

namespace potluck {

namespace {

int nibble(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

} // namespace

std::string to_hex(const std::uint8_t* data, std::size_t size) {
  static const char* digits = "0123456789abcdef";
  std::string result;
  result.reserve(size * 2);
  for (std::size_t i = 0; i < size; ++i) {
    result += digits[data[i] >> 4];
    result += digits[data[i] & 15];
  }
  return result;
}

bool from_hex(std::string_view text, std::uint8_t* out, std::size_t size) {
  if (text.size() != size * 2)
    return false;
  for (std::size_t i = 0; i < size; ++i) {
    int high = nibble(text[2 * i]);
    int low = nibble(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    out[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

digest digest_of(const void* data, std::size_t size) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
  digest result;
  std::memcpy(result.bytes.data(), canonical.digest, result.bytes.size());
  return result;
}

digest digest_of(const std::vector<digest>& parts) {
  static_assert(sizeof(digest) == digest::size);
  return digest_of(parts.data(), parts.size() * sizeof(digest));
}

record_key key_of(std::string_view name) {
  digest low = digest_of(name.data(), name.size());
  digest high = digest_of(low.bytes.data(), low.bytes.size());
  record_key result;
  std::memcpy(result.bytes.data(), low.bytes.data(), 16);
  std::memcpy(result.bytes.data() + 16, high.bytes.data(), 16);
  return result;
}

} // namespace potluck
