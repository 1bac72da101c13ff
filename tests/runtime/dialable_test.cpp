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

TEST_CASE("what cannot be dialled is no contact") {
  CHECK(dialable(address{"1.2.3.4", 1}));
  CHECK_FALSE(dialable(address{"1.2.3.4", 0}));
  CHECK_FALSE(dialable(address{"", 1}));
  CHECK_FALSE(dialable(address{std::string(max_host_bytes + 1, 'x'), 1}));
}
