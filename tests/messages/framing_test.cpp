#include <doctest/doctest.h>

#include "messages/framing.hpp"

using namespace potluck;

TEST_CASE("a preamble comes back and has the documented bytes") {
  auto bytes = write_preamble({0x0102, 0x030405});
  std::array<std::uint8_t, preamble_bytes> documented{'P', 'L', 'K', '1', 2, 1,
                                                      0,   0,   5,   4,   3, 0};
  CHECK(bytes == documented);
  auto back = read_preamble(bytes.data());
  REQUIRE(back);
  CHECK(back->head_size == 0x0102);
  CHECK(back->body_size == 0x030405);
}

TEST_CASE("sizes are refused beyond their limits and kept at them") {
  auto passes = [](std::uint32_t head, std::uint32_t body) {
    return read_preamble(write_preamble({head, body}).data()).has_value();
  };
  CHECK(passes(1, 0));
  CHECK(passes(max_head_bytes, max_body_bytes));
  CHECK_FALSE(passes(0, 0));
  CHECK_FALSE(passes(max_head_bytes + 1, 0));
  CHECK_FALSE(passes(1, max_body_bytes + 1));
  CHECK_FALSE(passes(0xffffffff, 0xffffffff));
}

TEST_CASE("any other magic is refused") {
  for (std::size_t i = 0; i < 4; ++i) {
    auto bytes = write_preamble({1, 0});
    bytes[i] ^= 1;
    CHECK_FALSE(read_preamble(bytes.data()).has_value());
  }
}
