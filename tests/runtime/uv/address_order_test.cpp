#include "runtime/uv/address_order.hpp"

#include <doctest/doctest.h>

#include <string>

#include "runtime/uv/resolver.hpp"

using namespace potluck;

namespace {

sockaddr_storage at(const std::string& host) {
  auto x = read_numeric({host, 7000});
  REQUIRE_MESSAGE(x, host);
  return *x;
}

std::vector<sockaddr_storage> all(const std::vector<std::string>& hosts) {
  std::vector<sockaddr_storage> result;
  for (const auto& x : hosts)
    result.push_back(at(x));
  return result;
}

std::vector<std::string> rest_of(address_order& x) {
  std::vector<std::string> result;
  while (auto next = x.next())
    result.push_back(to_address(*next).host);
  return result;
}

using hosts = std::vector<std::string>;

} // namespace

TEST_CASE("families take turns, IPv6 first, each in its own order") {
  address_order x;
  x.add(all(
      {"192.0.2.1", "192.0.2.2", "2001:db8::1", "192.0.2.3", "2001:db8::2"}));
  CHECK(rest_of(x)
        == hosts{"2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2",
                 "192.0.2.3"});
  CHECK(rest_of(x).empty());
}

TEST_CASE("what is found late takes its turn among what is left") {
  address_order x;
  x.add(all({"192.0.2.1", "192.0.2.2"}));
  CHECK_FALSE(x.has_ipv6());
  CHECK(to_address(*x.next()).host == "192.0.2.1");
  x.add(all({"2001:db8::1", "2001:db8::2"}));
  CHECK(x.has_ipv6());
  CHECK(rest_of(x) == hosts{"2001:db8::1", "192.0.2.2", "2001:db8::2"});
}

TEST_CASE("IPv4 addresses are embedded as RFC 6052 lists them") {
  // Section 2.4, and what the IPv4 host's own addresses are like then.
  const struct {
    std::string prefix;
    std::size_t size;
    std::string whole, known;
  } rows[] = {
      {"2001:db8::", 4, "2001:db8:c000:221::", "2001:db8:c000:aa::"},
      {"2001:db8:100::", 5, "2001:db8:1c0:2:21::", "2001:db8:1c0:0:aa::"},
      {"2001:db8:122::", 6,
       "2001:db8:122:c000:2:2100::", "2001:db8:122:c000:0:aa00::"},
      {"2001:db8:122:300::", 7,
       "2001:db8:122:3c0:0:221::", "2001:db8:122:3c0:0:aa::"},
      {"2001:db8:122:344::", 8,
       "2001:db8:122:344:c0:2:2100::", "2001:db8:122:344:c0:0:aa00::"},
      {"2001:db8:122:344::", 12, "2001:db8:122:344::192.0.2.33",
       "2001:db8:122:344::192.0.0.171"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.whole);
    const auto prefix = read_nat64({at(row.known)});
    REQUIRE(prefix);
    CHECK(prefix->size == row.size);
    sockaddr_storage begin = at(row.prefix);
    CHECK(std::equal(prefix->bytes.begin(), prefix->bytes.end(),
                     reinterpret_cast<sockaddr_in6&>(begin).sin6_addr.s6_addr));
    CHECK(to_address(translated(*prefix, at("192.0.2.33")))
          == to_address(at(row.whole)));
  }
  CHECK(to_address(translated(well_known_nat64(), at("192.0.2.33")))
        == address{"64:ff9b::c000:221", 7000});
}

TEST_CASE("a prefix is read from what shows one only") {
  CHECK_FALSE(read_nat64({}));
  CHECK_FALSE(read_nat64(all({"192.0.0.170", "2001:db8::1"})));
  const auto found = read_nat64(all({"2001:db8::1", "64:ff9b::192.0.0.170"}));
  REQUIRE(found);
  CHECK(found->bytes == well_known_nat64().bytes);
  CHECK(found->size == 12);
}
