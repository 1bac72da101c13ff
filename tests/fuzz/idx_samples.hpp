/// Sound inputs of `fuzz_idx`.
#pragma once

#include "tests/fuzz/samples.hpp"

namespace potluck::idx_samples {

/// As one file of bytes in so many dimensions.
inline std::string idx(const std::vector<unsigned>& shape) {
  std::string result{0, 0, 8};
  result += static_cast<char>(shape.size());
  std::size_t values = 1;
  for (auto x : shape) {
    for (int shift = 24; shift >= 0; shift -= 8)
      result += static_cast<char>(x >> shift);
    values *= x;
  }
  return result + std::string(values, 'x');
}

inline std::string data(unsigned count, unsigned rows, unsigned columns) {
  const auto images = idx({count, rows, columns});
  std::string result(1, '\0');
  result += static_cast<char>(images.size() >> 8);
  result += static_cast<char>(images.size());
  return result + images + idx({count});
}

/// The images of `data(1, 2, 2)`, compressed by gzip -9n.
inline std::string compressed() {
  const std::string images("\x1f\x8b\x08\0\0\0\0\0\x02\xff\x63\x60\xe0\x60"
                           "\x66\x60\x60\x60\x04\x62\x26\x10\xae\0\x02\0"
                           "\x0d\x77\xef\x8f\x14\0\0\0",
                           34);
  std::string result(1, '\0');
  result += '\0';
  result += static_cast<char>(images.size());
  return result + images + idx({1});
}

inline fuzz_samples all() {
  return {data(1, 2, 2),
          data(7, 3, 5),
          data(100, 28, 1),
          compressed(),
          "\1A text, and a mark.\n",
          "\1\xEF\xBB\xBF\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8D\xB2\n"};
}

} // namespace potluck::idx_samples
