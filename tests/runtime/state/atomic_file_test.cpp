#include "runtime/state/atomic_file.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/state/some_state.hpp"

using namespace potluck;

namespace {

/// Bytes of which no stretch is like another.
std::string some_bytes(std::size_t size) {
  std::string result;
  result.reserve(size);
  std::uint64_t x = size;
  while (result.size() < size) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    result += static_cast<char>(x >> 56);
  }
  return result;
}

} // namespace

TEST_CASE("a file of any length is written to its last byte") {
  scratch_directory scratch;
  const auto path = scratch.file("f");
  constexpr std::size_t piece = std::size_t{4} << 20;
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, piece - 1, piece,
                           piece + 1, piece + 4096, 2 * piece + 4095}) {
    CAPTURE(size);
    const auto bytes = some_bytes(size);
    // Sections begin and end anywhere.
    const std::size_t first = size / 3;
    REQUIRE(bool(replace_file(path, {{bytes.data(), first},
                                     {bytes.data(), 0},
                                     {bytes.data() + first, size - first}})));
    CHECK(read_all(path) == bytes);
  }
}
