#include "tools/lab/sim/address_plan.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using simulation::address_plan;
using simulation::public_host;

namespace {

/// The addresses of a scenario with these groups and strangers.
struct town {
  explicit town(const std::string& groups, const std::string& more = "")
      : what{parsed(groups, more)}, plan{what, 1}, addresses{what, plan} {
  }

  static scenario parsed(const std::string& groups, const std::string& more) {
    auto x = parse_scenario(R"({"groups": [)" + groups + "]" + more + "}");
    REQUIRE_MESSAGE(x, (x ? "" : x.error()));
    return with_strangers(*x);
  }

  scenario what;
  fault_plan plan;
  address_plan addresses;
};

const std::string first_contact
    = R"({"name": "first contact", "count": 1, "role": "bootstrap"})";

} // namespace

TEST_CASE("a peer has a public host, and one behind a router a private one") {
  town x{first_contact + R"(, {"name": "homes", "count": 300,
                               "router": "port-restricted"},
                              {"name": "six", "count": 2,
                               "router": "ipv6-only"})"};
  CHECK(public_host(0) == "11.0.0.1");
  CHECK(public_host(258) == "11.1.2.1");
  CHECK(x.addresses.host_of(0) == "11.0.0.1");
  CHECK(x.addresses.host_of(1) == "192.168.0.1");
  CHECK(x.addresses.host_of(258) == "192.168.1.2");
  CHECK(x.addresses.host_of(302) == "fd00::1:46");
  CHECK(x.addresses.open(0) == address{"11.0.0.1", 31337});
}

TEST_CASE("peers share the homes of their group in turn") {
  town x{first_contact + R"(, {"name": "flats", "count": 5, "homes": 2,
                               "router": "symmetric"},
                              {"name": "houses", "count": 2,
                               "router": "symmetric"})"};
  std::vector<std::string> moved;
  for (std::size_t number = 1; number < 8; ++number)
    moved.push_back(x.addresses.move_in(number));
  CHECK(moved
        == std::vector<std::string>{"11.0.1.1", "11.0.2.1", "11.0.1.1",
                                    "11.0.2.1", "11.0.1.1", "11.0.6.1",
                                    "11.0.7.1"});
}

TEST_CASE("everybody knows three open peers at most, bootstraps first") {
  town few{R"({"name": "hidden", "count": 1, "router": "symmetric"},
              {"name": "homes", "count": 1},
              {"name": "first contact", "count": 1, "role": "bootstrap"})"};
  CHECK(few.addresses.seeds()
        == std::vector<address>{{"11.0.2.1", 31337}, {"11.0.1.1", 31337}});
  town many{R"({"name": "homes", "count": 9},
               {"name": "first contacts", "count": 2, "role": "bootstrap"})"};
  CHECK(many.addresses.seeds()
        == std::vector<address>{
            {"11.0.9.1", 31337}, {"11.0.10.1", 31337}, {"11.0.0.1", 31337}});
}

TEST_CASE("bootstraps listen on port 443 where homes reach no other") {
  town x{first_contact + R"(, {"name": "homes", "count": 1},
                              {"name": "office", "count": 1,
                               "router": "only-443"})"};
  CHECK(x.addresses.port_of(0) == 443);
  CHECK(x.addresses.port_of(1) == 31337);
  CHECK(x.addresses.seeds()[0] == address{"11.0.0.1", 443});
}

TEST_CASE("who hides behind a router, or is a stranger, is not dialled") {
  town x{first_contact + R"(, {"name": "hidden", "count": 1,
                               "router": "symmetric"},
                              {"name": "homes", "count": 1})",
         R"(, "faults": [{"fault": "join", "group": "homes", "at": "1s"}],
              "strangers": [{"manner": "idle"}])"};
  CHECK(x.addresses.dialable()
        == std::vector<address>{{"11.0.0.1", 31337}, {"11.0.2.1", 31337}});
  x.plan.due(std::chrono::seconds{2}, {});
  // Number 3 is the stranger; who joined last is there as well.
  CHECK(x.addresses.dialable()
        == std::vector<address>{
            {"11.0.0.1", 31337}, {"11.0.2.1", 31337}, {"11.0.4.1", 31337}});
  CHECK(x.addresses.seeds().size() == 2);
}
