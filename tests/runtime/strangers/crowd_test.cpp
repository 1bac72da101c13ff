#include "runtime/strangers/crowd.hpp"

#include <doctest/doctest.h>

#include "runtime/strangers/home_of.hpp"

using namespace potluck;

namespace {

/// Adds one, and lets go who is one too many.
std::optional<connection_id> come(crowd& x, connection_id id,
                                  const std::string& host) {
  x.add(id, host);
  const auto gone = x.too_many();
  if (gone)
    x.remove(*gone);
  CHECK_FALSE(x.too_many());
  return gone;
}

} // namespace

TEST_CASE("a home is an IPv4 address or 64 bits of IPv6") {
  CHECK(home_of("192.0.2.1") != home_of("192.0.2.2"));
  CHECK(home_of("2001:db8:1:2::1") == home_of("2001:db8:1:2:ffff::2"));
  CHECK(home_of("2001:db8:1:2::1") != home_of("2001:db8:1:3::1"));
  CHECK(home_of("::ffff:192.0.2.1") == home_of("192.0.2.1"));
  CHECK(home_of("example.org") == "example.org");
}

TEST_CASE("a prefix is 24 bits of IPv4 or 48 of IPv6") {
  CHECK(prefix_of("192.0.2.1") == prefix_of("192.0.2.77"));
  CHECK(prefix_of("192.0.2.1") != prefix_of("192.0.3.1"));
  CHECK(prefix_of("2001:db8:1::1") == prefix_of("2001:db8:1:ffff::2"));
  CHECK(prefix_of("2001:db8:1::1") != prefix_of("2001:db8:2::1"));
  CHECK(prefix_of("::ffff:192.0.2.1") == prefix_of("192.0.2.1"));
  CHECK(prefix_of("example.org") == "example.org");
}

TEST_CASE("of a home with too many the oldest goes") {
  crowd x{{3, 10, 20}};
  for (connection_id id = 1; id <= 3; ++id)
    CHECK_FALSE(come(x, id, "192.0.2.1"));
  CHECK_FALSE(come(x, 4, "192.0.2.2"));
  CHECK(come(x, 5, "192.0.2.1") == 1);
  x.remove(2);
  CHECK_FALSE(come(x, 6, "192.0.2.1"));
  CHECK(come(x, 7, "192.0.2.1") == 3);
}

TEST_CASE("of a prefix with too many the home goes that has most") {
  crowd x{{3, 4, 20}};
  come(x, 1, "192.0.2.9");
  come(x, 2, "192.0.2.1");
  come(x, 3, "192.0.2.1");
  come(x, 4, "198.51.100.1");
  CHECK_FALSE(come(x, 5, "192.0.2.1"));
  CHECK(come(x, 6, "192.0.2.8") == 2);
  CHECK(x.has(1));
}

TEST_CASE("a crowd does not displace a home that has few") {
  crowd x{{128, 192, 256}};
  connection_id id = 1;
  const auto mine = id;
  CHECK_FALSE(come(x, id++, "203.0.113.7"));
  for (int round = 0; round < 100; ++round)
    for (int home = 0; home < 32; ++home)
      come(x, id++, "198.51." + std::to_string(home) + ".1");
  CHECK(x.size() == 256);
  CHECK(x.has(mine));
  // Nor is whoever comes then displaced by the next ones.
  const auto late = id;
  come(x, id++, "203.0.113.8");
  for (int home = 0; home < 32; ++home)
    come(x, id++, "198.51." + std::to_string(home) + ".1");
  CHECK(x.has(late));
}

TEST_CASE("the newest does not give way to itself") {
  crowd x{{5, 5, 2}};
  CHECK_FALSE(come(x, 1, "198.51.100.1"));
  CHECK_FALSE(come(x, 2, "203.0.113.1"));
  CHECK(come(x, 3, "192.0.2.1") == 1); // The first in any order of names.
}

TEST_CASE("who came late is not old, whatever number it has") {
  crowd x{{2, 5, 9}};
  CHECK_FALSE(come(x, 7, "192.0.2.1"));
  CHECK_FALSE(come(x, 8, "192.0.2.1"));
  CHECK(come(x, 5, "192.0.2.1") == 7); // Its handshake took longer.
  CHECK(come(x, 9, "192.0.2.1") == 8);
  CHECK(come(x, 6, "192.0.2.1") == 5);
}
