#include "runtime/relay/hub_waits.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

contact who(std::uint8_t number) {
  contact x;
  x.id.bytes[0] = number;
  x.where = {"host", number};
  return x;
}

} // namespace

TEST_CASE("who waits for a hub goes on through it, or through others") {
  hub_waits x;
  x.add(who(9).id, who(1), {who(9), who(8)});
  x.add(who(9).id, who(2), {who(9)});
  CHECK(x.has(who(1).id));
  CHECK_FALSE(x.has(who(9).id));
  SUBCASE("the hub is there") {
    const auto all = x.end(who(9).id, true);
    REQUIRE(all.size() == 2);
    CHECK(all[0].who.id == who(1).id);
    REQUIRE(all[0].hubs.size() == 2);
    CHECK(all[0].hubs[0].id == who(9).id);
    CHECK(all[0].hubs[1].id == who(8).id);
    CHECK(all[1].hubs.size() == 1);
  }
  SUBCASE("it cannot be reached") {
    const auto all = x.end(who(9).id, false);
    REQUIRE(all.size() == 2);
    REQUIRE(all[0].hubs.size() == 1);
    CHECK(all[0].hubs[0].id == who(8).id);
    CHECK(all[1].hubs.empty());
  }
  CHECK_FALSE(x.has(who(1).id));
  CHECK(x.end(who(9).id, true).empty());
}

TEST_CASE("a hub that nobody waits for lets nobody go on") {
  hub_waits x;
  x.add(who(9).id, who(1), {who(9)});
  CHECK(x.end(who(8).id, true).empty());
  CHECK(x.has(who(1).id));
}
