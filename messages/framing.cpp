#include "messages/framing.hpp"

#include <cstring>

namespace potluck {

namespace {

constexpr char magic[] = {'P', 'L', 'K', '1'};

void put(std::uint8_t* out, std::uint32_t x) {
  for (int i = 0; i < 4; ++i)
    out[i] = static_cast<std::uint8_t>(x >> (8 * i));
}

std::uint32_t get(const std::uint8_t* in) {
  std::uint32_t x = 0;
  for (int i = 0; i < 4; ++i)
    x |= static_cast<std::uint32_t>(in[i]) << (8 * i);
  return x;
}

} // namespace

std::array<std::uint8_t, preamble_bytes> write_preamble(preamble x) {
  std::array<std::uint8_t, preamble_bytes> bytes{};
  std::memcpy(bytes.data(), magic, sizeof(magic));
  put(bytes.data() + 4, x.head_size);
  put(bytes.data() + 8, x.body_size);
  return bytes;
}

std::optional<preamble> read_preamble(const std::uint8_t* bytes) {
  if (std::memcmp(bytes, magic, sizeof(magic)) != 0)
    return std::nullopt;
  preamble x{get(bytes + 4), get(bytes + 8)};
  if (x.head_size == 0 || x.head_size > max_head_bytes
      || x.body_size > max_body_bytes)
    return std::nullopt;
  return x;
}

} // namespace potluck
