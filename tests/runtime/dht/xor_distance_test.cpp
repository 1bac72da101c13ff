#include "runtime/dht/xor_distance.hpp"

#include <doctest/doctest.h>

#include "runtime/random.hpp"

using namespace potluck;

TEST_CASE("distance is zero to oneself only, symmetric, and a metric") {
  random_stream random{1};
  for (int i = 0; i < 200; ++i) {
    auto a = random.draw<peer_id>();
    auto b = random.draw<peer_id>();
    auto c = random.draw<record_key>();
    CHECK(distance_between(a, a) == xor_distance{});
    CHECK(distance_between(a, b) != xor_distance{});
    CHECK(distance_between(a, b) == distance_between(b, a));
    CHECK(closer(c, a, b) == (distance_between(c, a) < distance_between(c, b)));
    CHECK_FALSE(closer(c, a, a));
    CHECK(closer(a, a, b));
  }
}

TEST_CASE("only one point is at a given distance from another") {
  random_stream random{2};
  auto a = random.draw<record_key>();
  auto b = random.draw<peer_id>();
  auto d = distance_between(a, b);
  record_key back;
  for (std::size_t i = 0; i < 32; ++i)
    back.bytes[i] = a.bytes[i] ^ d.bytes[i];
  CHECK(back == point_of(b));
}

TEST_CASE(
    "the shared prefix is counted in bits from the first byte's highest") {
  random_stream random{3};
  auto a = random.draw<peer_id>();
  CHECK(common_prefix_bits(a, a) == point_bits);
  for (std::size_t bit = 0; bit < point_bits; ++bit) {
    auto b = a;
    b.bytes[bit / 8] ^= static_cast<std::uint8_t>(0x80u >> (bit % 8));
    CHECK(common_prefix_bits(a, b) == bit);
    // What follows the first difference does not count.
    b.bytes[31] ^= 1;
    CHECK(common_prefix_bits(a, b) == (bit == 255 ? point_bits : bit));
  }
}

TEST_CASE("a longer shared prefix is a smaller distance") {
  random_stream random{4};
  for (int i = 0; i < 500; ++i) {
    auto target = random.draw<record_key>();
    auto a = random.draw<peer_id>();
    auto b = random.draw<peer_id>();
    auto of_a = common_prefix_bits(target, a);
    auto of_b = common_prefix_bits(target, b);
    if (of_a > of_b)
      CHECK(closer(target, a, b));
    if (of_a < of_b)
      CHECK(closer(target, b, a));
  }
}

TEST_CASE("a distance is a part of the space") {
  xor_distance x;
  CHECK(part_of_space(x) == 0);
  x.bytes[0] = 0x80;
  CHECK(part_of_space(x) == 0.5);
  x.bytes[1] = 0x40;
  CHECK(part_of_space(x) == 0.5 + 0.25 / 256);
  x.bytes.fill(0xff);
  CHECK(part_of_space(x) <= 1);
  CHECK(part_of_space(x) > 0.999999);
}
