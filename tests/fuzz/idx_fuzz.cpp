/// What a trainer's data may be: images and labels as IDX, compressed or not,
/// and text.
///
/// The first byte says which. Of images two bytes say how long their file is;
/// the labels' is behind it. tools/fuzz runs it with libFuzzer,
/// idx_fuzz_test.cpp without.
#include <cstdint>
#include <cstdlib>

#include "models/images/idx.hpp"
#include "models/text/corpus.hpp"
#include "tests/fuzz/memory_file.hpp"

using namespace potluck;

namespace {

constexpr std::uint64_t most_bytes = 1 << 20;

bool try_images(std::string_view bytes) {
  static memory_file images, labels;
  if (bytes.size() < 2)
    return false;
  const std::size_t size = static_cast<unsigned char>(bytes[0]) << 8
                           | static_cast<unsigned char>(bytes[1]);
  bytes.remove_prefix(2);
  images.hold(bytes.substr(0, size));
  labels.hold(size < bytes.size() ? bytes.substr(size) : "");
  const auto x = read_idx(images.path(), labels.path(), most_bytes);
  if (x
      && (x->labels.empty() || x->pixels.size() > most_bytes
          || x->pixels.size() != x->labels.size() * x->rows * x->columns))
    std::abort();
  return static_cast<bool>(x);
}

bool try_text(std::string_view bytes) {
  static memory_file text;
  text.hold(bytes);
  const auto x = read_corpus(text.path(), most_bytes);
  if (x && (x->size() > bytes.size() || x->find('\0') != std::string::npos))
    std::abort();
  return static_cast<bool>(x);
}

} // namespace

/// @returns Whether it was data.
std::size_t fuzz_idx(const std::uint8_t* data, std::size_t size) {
  if (size < 1)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  return data[0] % 2 == 0 ? try_images(bytes) : try_text(bytes);
}
