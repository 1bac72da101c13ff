#include "runtime/identity/sealing.hpp"

#include <doctest/doctest.h>

#include "runtime/identity/key_pair.hpp"

using namespace potluck;

namespace {

struct letter_under_seal {
  letter_under_seal() : x(seal_of(what, 1000, 60, *ann)) {
  }
  bool holds() const {
    return potluck::holds(x, what, *bob);
  }

  shared_signatures ann = signatures_of(key_pair::generate());
  shared_signatures bob = signatures_of(key_pair::generate());
  sealed_words what{"potluck record", 3, "a key", "what ann says"};
  seal x;
};

} // namespace

TEST_CASE("what a peer has sealed is its own, whoever passes it on") {
  letter_under_seal a;
  CHECK(a.holds());
  CHECK(a.bob->owner_of(a.x.signer) == a.ann->owner_of(a.ann->key()));
  CHECK(a.bob->owner_of(a.x.signer) != a.bob->owner_of(a.bob->key()));
}

TEST_CASE("a seal under anything else than what was said does not hold") {
  letter_under_seal a;
  SUBCASE("other words") {
    a.what.text = "what ann sayS";
  }
  SUBCASE("another subject") {
    a.what.subject = "a kez";
  }
  SUBCASE("another kind of words") {
    a.what.type = 4;
  }
  SUBCASE("another use") {
    a.what.domain = "potluck voucher";
  }
  SUBCASE("the same bytes, cut elsewhere") {
    a.what.subject = "a keyw";
    a.what.text = "hat ann says";
  }
  SUBCASE("said later") {
    ++a.x.number;
  }
  SUBCASE("for longer") {
    ++a.x.life_ms;
  }
  SUBCASE("by somebody else") {
    a.x.signer = a.bob->key();
  }
  SUBCASE("by nobody") {
    a.x.proof.bytes[10] ^= 1;
  }
  CHECK_FALSE(a.holds());
}

TEST_CASE("a seal counts for its life, give or take what clocks differ by") {
  seal x;
  x.number = 10'000;
  x.life_ms = 500;
  constexpr auto tolerance = 100;
  CHECK(freshness_of(x, 9'899, tolerance) == freshness::early);
  CHECK(freshness_of(x, 9'900, tolerance) == freshness::fresh);
  CHECK(freshness_of(x, 10'600, tolerance) == freshness::fresh);
  CHECK(freshness_of(x, 10'601, tolerance) == freshness::expired);
  x.number = UINT64_MAX;
  CHECK(freshness_of(x, 10'000, tolerance) == freshness::early);
  x.number = 0;
  CHECK(freshness_of(x, UINT64_MAX, tolerance) == freshness::expired);
}
