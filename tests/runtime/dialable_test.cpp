#include "runtime/dialable.hpp"

#include <doctest/doctest.h>

using namespace potluck;

TEST_CASE("addresses of a house are told from those of the internet") {
  for (auto host :
       {"127.0.0.1", "localhost", "10.1.2.3", "192.168.0.7", "172.16.0.1",
        "172.31.9.9", "169.254.1.1", "::1", "fe80::1", "fd12:3456::1"}) {
    CAPTURE(host);
    CHECK(is_local(host));
  }
  for (auto host : {"", "1.2.3.4", "100.64.0.1", "172.15.0.1", "172.32.0.1",
                    "172.example.org", "11.0.0.1", "192.169.0.1", "2001:db8::1",
                    "seed.example.org", "feedback.org"}) {
    CAPTURE(host);
    CHECK_FALSE(is_local(host));
  }
}

TEST_CASE("only an address of the internet is dialled on a stranger's word") {
  for (auto host :
       {"1.2.3.4", "203.0.113.7", "172.15.0.1", "172.32.0.1", "100.63.255.255",
        "100.128.0.1", "::ffff:1.2.3.4", "2001:db8::1", "2a00::1"}) {
    CAPTURE(host);
    CHECK(is_public(host));
  }
  for (auto host : {"",
                    "localhost",
                    "seed.example.org",
                    "0.0.0.0",
                    "10.1.2.3",
                    "100.64.0.1",
                    "100.127.255.255",
                    "127.0.0.1",
                    "169.254.169.254",
                    "172.16.0.1",
                    "172.31.9.9",
                    "192.168.0.7",
                    "224.0.0.1",
                    "255.255.255.255",
                    "0x7f.1",
                    "127.1",
                    "2130706433",
                    "::",
                    "::1",
                    "::ffff:127.0.0.1",
                    "::ffff:10.0.0.1",
                    "::127.0.0.1",
                    "fe80::1",
                    "fd12:3456::1",
                    "ff02::1",
                    "64:ff9b::a00:1",
                    "2002:a00:1::1",
                    "2001:0:a00:1::1",
                    "fe80::1%eth0"}) {
    CAPTURE(host);
    CHECK_FALSE(is_public(host));
  }
}

TEST_CASE("hosts of one customer are in one network") {
  CHECK(network_of("198.51.100.1") == network_of("198.51.100.200"));
  CHECK(network_of("198.51.100.1") != network_of("198.51.10.1"));
  CHECK(network_of("2001:db8:7:1::1") == network_of("2001:db8:7:2:3::9"));
  CHECK(network_of("2001:db8:7::1") != network_of("2001:db8:8::1"));
  CHECK(network_of("10.0.0.1") == "10.0.0.1");
  CHECK(network_of("a.name") == "a.name");
  CHECK(crowd_of("198.51.100.1") == crowd_of("::ffff:198.51.100.200"));
  CHECK(crowd_of("198.51.100.1") != crowd_of("198.51.10.1"));
  CHECK(crowd_of("a.name") == crowd_of("another.name"));
  for (auto own :
       {"10.0.0.1", "127.0.0.1", "::1", "fd00::1", "localhost", "100.64.0.1"})
    CHECK(crowd_of(own) == "");
  CHECK(same_family("1.2.3.4", "::ffff:1.2.3.4"));
  CHECK_FALSE(same_family("1.2.3.4", "2001:db8::1"));
}

TEST_CASE("what cannot be dialled is no contact") {
  CHECK(dialable(address{"1.2.3.4", 1}));
  CHECK_FALSE(dialable(address{"1.2.3.4", 0}));
  CHECK_FALSE(dialable(address{"", 1}));
  CHECK_FALSE(dialable(address{std::string(max_host_bytes + 1, 'x'), 1}));
}
