#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "messages/framing.hpp"

using namespace potluck;

TEST_CASE("a preamble comes back and has the documented bytes") {
  auto bytes = write_preamble({0x0102, 0x030405, 0x060708090a0b0c0d});
  std::array<std::uint8_t, preamble_bytes> documented{
      'P', 'L', 'K', '3', 2, 1, 0, 0, 5, 4, 3, 0, 13, 12, 11, 10, 9, 8, 7, 6};
  CHECK(bytes == documented);
  auto back = read_preamble(bytes.data());
  REQUIRE(back);
  CHECK(back->head_size == 0x0102);
  CHECK(back->body_size == 0x030405);
  CHECK(back->checksum == 0x060708090a0b0c0d);
}

TEST_CASE("sizes are refused beyond their limits and kept at them") {
  auto passes = [](std::uint32_t head, std::uint32_t body) {
    return read_preamble(write_preamble({head, body, 0}).data()).has_value();
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
    auto bytes = write_preamble({1, 0, 0});
    bytes[i] ^= 1;
    CHECK_FALSE(read_preamble(bytes.data()).has_value());
  }
}

TEST_CASE("the checksum is XXH3 of sizes, head and the body's digest") {
  // As `xxhsum -H3` has it for the twelve bytes, "head" and the sixteen bytes
  // that `xxhsum -H2` has for "the body".
  std::vector<std::uint8_t> head{'h', 'e', 'a', 'd'};
  std::string text = "the body";
  std::vector<std::uint8_t> body{text.begin(), text.end()};
  auto x = preamble_for(head.data(), head.size(), body.data(), body.size());
  CHECK(x.head_size == 4);
  CHECK(x.body_size == 8);
  CHECK(x.checksum == 0x8c6578447af3c7a1);
  digest sum;
  CHECK(intact(x, head.data(), body.data(), &sum));
  CHECK(sum == digest_of(body.data(), body.size()));
  // Who knows it already need not have the body read again.
  auto again
      = preamble_for(head.data(), head.size(), nullptr, body.size(), sum);
  CHECK(again.checksum == x.checksum);
}

TEST_CASE("any bit that flips in a frame is noticed") {
  for (std::size_t size : {0, 1, 100, 1000}) {
    std::vector<std::uint8_t> head(33, 5), body(size, 9);
    const auto x
        = preamble_for(head.data(), head.size(), body.data(), body.size());
    CHECK(intact(x, head.data(), body.data()));
    auto flips = [&](std::vector<std::uint8_t>& bytes) {
      std::size_t missed = 0;
      for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        auto mask = static_cast<std::uint8_t>(1u << bit % 8);
        bytes[bit / 8] ^= mask;
        missed += intact(x, head.data(), body.data());
        bytes[bit / 8] ^= mask;
      }
      return missed;
    };
    CHECK(flips(head) == 0);
    CHECK(flips(body) == 0);
  }
}

TEST_CASE("a frame whose pieces have other borders is not the same frame") {
  std::vector<std::uint8_t> bytes(20, 3);
  auto x = preamble_for(bytes.data(), 12, bytes.data() + 12, 8);
  auto y = preamble_for(bytes.data(), 11, bytes.data() + 11, 9);
  CHECK(x.checksum != y.checksum);
}
