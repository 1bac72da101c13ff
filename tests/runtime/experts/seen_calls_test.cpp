#include "runtime/experts/open_calls.hpp"
#include "runtime/experts/seen_calls.hpp"

#include <doctest/doctest.h>

using namespace potluck;

TEST_CASE("each call of each caller is first once") {
  seen_calls seen;
  peer_id a;
  peer_id b;
  b.bytes[0] = 1;
  CHECK(seen.first(a, 7));
  CHECK_FALSE(seen.first(a, 7));
  CHECK(seen.first(b, 7));
  CHECK(seen.first(a, 6)); // Out of order.
  CHECK_FALSE(seen.first(a, 6));
  // What is far behind is old, and memory stays bounded.
  for (std::uint64_t i = 8; i < 8 + 2 * limits::expert_calls_open; ++i)
    CHECK(seen.first(a, i));
  CHECK_FALSE(seen.first(a, 5));
  CHECK_FALSE(seen.first(a, 8));
  // Who comes anew may count anew.
  seen.forget(a);
  CHECK(seen.first(a, 1));
}
