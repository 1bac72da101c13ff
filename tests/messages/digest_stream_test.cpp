#include "messages/digest_stream.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

using namespace potluck;

TEST_CASE("a digest bit by bit is the digest of the whole") {
  constexpr std::uint64_t seed = 11;
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  for (std::size_t size : {0u, 1u, 240u, 241u, 1023u, 70'001u}) {
    std::vector<std::uint8_t> bytes(size);
    for (auto& x : bytes)
      x = static_cast<std::uint8_t>(random());
    digest_stream stream;
    for (std::size_t begin = 0; begin < size;) {
      auto count = std::min<std::size_t>(1 + random() % 5000, size - begin);
      stream.add(bytes.data() + begin, count);
      begin += count;
    }
    CHECK(stream.result() == digest_of(bytes.data(), size));
  }
}
