#include "messages/ids.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>

using namespace potluck;

namespace {

struct short_tag;
using short_id = identifier<short_tag, 3>;

/// `a` comes before `b` byte for byte, the same way for every size.
template <class Id>
void check_order(std::mt19937_64& random) {
  for (int i = 0; i < 2000; ++i) {
    Id a;
    for (auto& byte : a.bytes)
      byte = static_cast<std::uint8_t>(random());
    auto b = a;
    // The first byte that differs may be any of them, or none.
    for (auto at = random() % (Id::size + 1); at < Id::size; ++at)
      b.bytes[at] = static_cast<std::uint8_t>(random());
    CHECK((a < b) == (a.bytes < b.bytes));
    CHECK((b < a) == (b.bytes < a.bytes));
    CHECK((a == b) == (a.bytes == b.bytes));
    CHECK((a != b) == (a.bytes != b.bytes));
  }
}

} // namespace

TEST_CASE("identifiers are ordered byte for byte, as unsigned numbers") {
  std::mt19937_64 random{20210618};
  check_order<peer_id>(random);
  check_order<group_id>(random);
  check_order<short_id>(random);
  peer_id low;
  peer_id high;
  low.bytes[0] = 0x7f;
  high.bytes[0] = 0x80;
  CHECK(low < high);
  CHECK_FALSE(high < low);
  CHECK_FALSE(low < low);
}

TEST_CASE("hex is read back, and nothing else is taken for it") {
  std::mt19937_64 random{7};
  peer_id id;
  for (auto& byte : id.bytes)
    byte = static_cast<std::uint8_t>(random());
  auto text = to_string(id);
  CHECK(text.size() == 2 * peer_id::size);
  peer_id back;
  CHECK(from_hex(text, back.bytes.data(), back.bytes.size()));
  CHECK(back == id);
  CHECK_FALSE(from_hex(text.substr(1), back.bytes.data(), back.bytes.size()));
  text[5] = 'g';
  CHECK_FALSE(from_hex(text, back.bytes.data(), back.bytes.size()));
}

TEST_CASE("an identifier of zeros stands for none") {
  peer_id id;
  CHECK(id.empty());
  id.bytes.back() = 1;
  CHECK_FALSE(id.empty());
}
