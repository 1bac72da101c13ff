#include "tools/lab/network/public_hosts.hpp"

#include <arpa/inet.h>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "runtime/dialable.hpp"

using namespace potluck;

TEST_CASE("every host has an IPv6 network of its own on the internet") {
  std::set<std::string> networks;
  for (std::size_t x : {0, 1, 255, 256, 32768, 65536, 70000}) {
    const auto ipv4 = public_host_address(x);
    auto six = public_ipv6_address(ipv4);
    char text[INET6_ADDRSTRLEN];
    REQUIRE(::inet_ntop(AF_INET6, six.data(), text, sizeof(text)));
    CHECK(is_public(text));
    CHECK(networks.insert(network_of(text)).second);
    CHECK(public_owner_of(six) == ipv4);
    six[15] = 7;
    CHECK(public_owner_of(six) == ipv4);
    six[0] = 0xfe;
    CHECK_FALSE(public_owner_of(six));
  }
}
