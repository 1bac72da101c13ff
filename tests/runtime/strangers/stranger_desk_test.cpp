#include "runtime/strangers/stranger_desk.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// How many of these come in, one by one, and stay for so long.
std::size_t visits(stranger_desk& x, std::size_t times, duration stays,
                   bool trusted = false) {
  std::size_t result = 0;
  time_point now{1s};
  for (connection_id id = 1; id <= times; ++id) {
    if (!x.may_knock("192.0.2.1", now))
      continue;
    ++result;
    x.came(id, "192.0.2.1");
    x.proved(id, "192.0.2.1", now);
    if (trusted)
      x.trusts(id);
    x.ended(id, now + stays);
  }
  return result;
}

stranger_desk desk() {
  return {limits::strangers_connected, limits::unproven_connections};
}

} // namespace

TEST_CASE("who comes for nothing, again and again, comes less often") {
  auto passing = desk(), staying = desk(), trusted = desk();
  const auto all
      = static_cast<std::size_t>(limits::handshakes_of_a_home_at_once);
  CHECK(visits(staying, 2 * all, limits::fleeting) == all);
  CHECK(visits(trusted, 2 * all, 0s, true) == all);
  const auto few
      = static_cast<double>(all) / (1 + limits::handshakes_of_fleeting);
  CHECK(static_cast<double>(visits(passing, 2 * all, 1ms)) < few + 2);
}

TEST_CASE("who goes before it has proven anything has had one handshake") {
  auto x = desk();
  time_point now{1s};
  const auto all
      = static_cast<connection_id>(limits::handshakes_of_a_home_at_once);
  for (connection_id id = 1; id <= all; ++id) {
    REQUIRE(x.may_knock("192.0.2.1", now));
    x.came(id, "192.0.2.1");
    x.ended(id, now);
  }
  CHECK_FALSE(x.may_knock("192.0.2.1", now));
}
