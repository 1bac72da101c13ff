#include "runtime/ways/cells/absences.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t i) {
  peer_id x;
  x.bytes[0] = i;
  return x;
}

constexpr time_point start{1h};
constexpr auto later = absences::estranged_after;

} // namespace

TEST_CASE("out of reach is one that is heard of and twice cannot be dialled") {
  absences all{15s};
  all.missed(peer(1), start);
  CHECK_FALSE(all.estranged(peer(1)));
  SUBCASE("it is heard of until the second dial fails") {
    all.heard(peer(1), start + later);
    CHECK_FALSE(all.estranged(peer(1)));
    all.missed(peer(1), start + later + 1s);
    CHECK(all.estranged(peer(1)));
    all.met(peer(1));
    CHECK_FALSE(all.estranged(peer(1)));
  }
  SUBCASE("its last report may still have gone round") {
    all.heard(peer(1), start + later - 1ns);
    all.missed(peer(1), start + later + 1s);
    CHECK_FALSE(all.estranged(peer(1)));
  }
  SUBCASE("nobody has heard of it") {
    all.missed(peer(1), start + later + 1s);
    CHECK_FALSE(all.estranged(peer(1)));
  }
  SUBCASE("it has been silent since, and may have been away before") {
    all.heard(peer(1), start + later);
    all.missed(peer(1), start + later + 15s + 1ns);
    CHECK_FALSE(all.estranged(peer(1)));
  }
  SUBCASE("another was heard of") {
    all.heard(peer(2), start + later);
    all.missed(peer(1), start + later + 1s);
    all.missed(peer(2), start + later + 1s);
    CHECK_FALSE(all.estranged(peer(1)));
    CHECK_FALSE(all.estranged(peer(2)));
  }
}

TEST_CASE("one out of reach stays so until it is silent or tried anew") {
  absences all{15s};
  all.missed(peer(1), start);
  all.heard(peer(1), start + later);
  all.missed(peer(1), start + later);
  REQUIRE(all.estranged(peer(1)));
  const auto end = start + 2 * later + 15s;
  all.forget_silent(end, false);
  CHECK(all.estranged(peer(1)));
  SUBCASE("it is silent") {
    all.forget_silent(end + 1ns, false);
    CHECK_FALSE(all.estranged(peer(1)));
  }
  SUBCASE("it is tried anew") {
    all.forget_silent(end, true);
    CHECK_FALSE(all.estranged(peer(1)));
  }
}

TEST_CASE(
    "one that could not be dialled once is remembered when others are tried") {
  absences all{15s};
  all.missed(peer(1), start);
  all.forget_silent(start + 1s, true);
  all.heard(peer(1), start + later);
  all.missed(peer(1), start + later);
  CHECK(all.estranged(peer(1)));
}
