/// Who is connected, how, and which of them are hubs that lead here.
#include "runtime/membership/guest_book.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

contact at(std::uint8_t number, std::uint16_t port = 7000) {
  contact x;
  x.id.bytes[0] = number;
  x.where = {"10.0.0." + std::to_string(number), port};
  return x;
}

} // namespace

TEST_CASE("a guest is where its direct line leads") {
  guest_book x{at(1).id, role::trainer};
  x.joined({at(2).id, {}}, role::trainer, {});
  x.line({at(2).id, {}}, true, false);
  CHECK(x.find(at(2).id)->relayed);
  CHECK(x.find(at(2).id)->who.where == address{});
  x.line(at(2), false, false);
  CHECK_FALSE(x.find(at(2).id)->relayed);
  CHECK(x.find(at(2).id)->who == at(2));
}

TEST_CASE("whom nobody may be able to dial is no node of the DHT") {
  guest_book x{at(1).id, role::auxiliary};
  const auto come = [&](role what, const char* host) {
    x.left(at(2).id);
    return x.joined({at(2).id, {host, 7000}}, what, {}).routes;
  };
  CHECK(come(role::auxiliary, "10.0.0.2"));
  CHECK(come(role::trainer, "10.0.0.2"));
  CHECK(come(role::bootstrap, "203.0.113.2"));
  CHECK_FALSE(come(role::auxiliary, "203.0.113.2"));
  CHECK_FALSE(come(role::trainer, "203.0.113.2"));
  progress_report said;
  said.id = at(2).id;
  said.phase = phase::accumulating;
  CHECK(x.heard(said) != guest_book::change::routes);
  said.reach = reach::cone;
  CHECK(x.heard(said) != guest_book::change::routes);
  said.reach = reach::open;
  CHECK(x.heard(said) == guest_book::change::routes);
  said.reach = reach::symmetric; // It has moved.
  CHECK(x.heard(said) == guest_book::change::routes_no_more);
}

TEST_CASE(
    "a stranger that says so is no hub, and the user's word comes first") {
  guest_book x{at(1).id, role::trainer};
  const auto come = [&](std::uint8_t number, role what, int second) {
    x.joined(at(number), what, time_point{second * 1s});
    x.line(at(number), false, true);
  };
  for (std::uint8_t i = 2; i < 6; ++i)
    come(i, role::trainer, 0);
  CHECK(x.hubs().empty());
  for (std::uint8_t i = 10; i < 14; ++i)
    come(i, role::bootstrap, 100 - i);
  come(20, role::auxiliary, 1000);
  CHECK(x.hubs() == std::vector<contact>{at(13), at(12), at(11)});
  x.is_seed(at(20).id);
  CHECK(x.hubs() == std::vector<contact>{at(20), at(13), at(12)});
  x.line({at(20).id, {}}, true, true); // Through another hub.
  CHECK(x.hubs().front() == at(13));
}

TEST_CASE("a trainer that others can dial is a hub where there is no better") {
  guest_book x{at(1).id, role::trainer};
  progress_report said;
  const auto come = [&](std::uint8_t number, role what) {
    x.joined(at(number), what, {});
    x.line(at(number), false, what != role::trainer);
  };
  const auto says = [&](std::uint8_t number, reach how) {
    said.id = at(number).id;
    said.where = at(number, how == reach::cone ? 0 : 7000).where;
    said.reach = how;
    x.heard(said);
  };
  for (std::uint8_t i = 2; i < 6; ++i)
    come(i, role::trainer);
  says(2, reach::open);
  says(3, reach::cone);
  says(4, reach::unknown); // It has not found out yet.
  says(5, reach::mapped);
  CHECK(x.hubs() == std::vector<contact>{at(2), at(5)});
  come(10, role::bootstrap);
  CHECK(x.hubs() == std::vector<contact>{at(10), at(2), at(5)});
  x.line(at(2), true, false);
  said.contributes = true; // It drops those that it does not need.
  says(5, reach::mapped);
  CHECK(x.hubs() == std::vector<contact>{at(10)});
}
