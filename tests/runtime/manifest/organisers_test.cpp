#include "runtime/manifest/organisers.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

public_key key(std::uint8_t first) {
  public_key x;
  x.bytes.fill(first);
  return x;
}

std::string hex(std::uint8_t first) {
  return to_string(key(first));
}

} // namespace

TEST_CASE("a successor may sign alone, and of several so many as are named") {
  const auto alone = read_organisers(key(1), "none");
  REQUIRE(alone);
  CHECK(alone->keys == std::vector{key(1)});
  CHECK(alone->needed == 1);
  const auto two = read_organisers(key(1), hex(2));
  REQUIRE(two);
  CHECK(two->keys.size() == 2);
  CHECK(two->needed == 1);
  const auto three = read_organisers(key(1), "2/" + hex(2) + "," + hex(3));
  REQUIRE(three);
  CHECK(three->keys.size() == 3);
  CHECK(three->needed == 2);
  CHECK(three->has(key(3)));
  CHECK_FALSE(three->has(key(4)));
}

TEST_CASE("a setting that names no organisers is refused") {
  std::string nine = "2/" + hex(2);
  for (std::uint8_t i = 3; i < 11; ++i)
    nine += "," + hex(i);
  for (const auto& text :
       {std::string{}, std::string{"7"}, hex(2) + "," + hex(3), "1/" + hex(2),
        "3/" + hex(2), "2/" + hex(2) + ",", "2/" + hex(2) + "," + hex(2),
        "2/" + hex(1), "/" + hex(2), std::string(64, 'A'), nine}) {
    CAPTURE(text);
    CHECK_FALSE(read_organisers(key(1), text));
  }
}
