/// Integers in the byte order of our files, whatever the machine's own is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace potluck {

template <class Integer>
void put_little_endian(std::uint8_t* out, Integer x) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    out[i] = static_cast<std::uint8_t>(x >> (8 * i));
}

template <class Integer>
Integer get_little_endian(const std::uint8_t* in) {
  Integer x = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    x |= static_cast<Integer>(static_cast<Integer>(in[i]) << (8 * i));
  return x;
}

template <class Integer>
void append_little_endian(std::string& out, Integer x) {
  std::uint8_t bytes[sizeof(Integer)];
  put_little_endian(bytes, x);
  out.append(reinterpret_cast<const char*>(bytes), sizeof(bytes));
}

} // namespace potluck
