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
