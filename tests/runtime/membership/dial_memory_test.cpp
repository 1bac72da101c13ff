#include "runtime/membership/dial_memory.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1000s};
const address outside{"203.0.113.2", 7000};
const address outside6{"2001:db8:2::2", 7000};
const address inside{"192.168.0.2", 7000};

/// One that others see at this host.
dial_memory seen_at(const std::string& own) {
  dial_memory result;
  result.answered({"203.0.113.9", 7000}, own);
  return result;
}

} // namespace

TEST_CASE("seen from the internet a peer does not knock in its house") {
  auto x = seen_at("203.0.113.1");
  CHECK_FALSE(x.may_try(inside, start));
  CHECK(x.may_try(outside, start));
  auto y = seen_at("192.168.0.1");
  CHECK(y.may_try(inside, start));
  dial_memory z; // Nobody has said yet where it is.
  CHECK(z.may_try(inside, start));
}

TEST_CASE("where nobody was it is tried again after a while") {
  dial_memory x;
  REQUIRE(x.may_try(outside, start));
  CHECK_FALSE(x.may_try(outside, start + 1s)); // It is being dialled.
  x.failed(outside, start + 1s);
  CHECK_FALSE(x.may_try(outside, start + 1s));
  CHECK(x.may_try(outside, start + 2s));
  x.failed({}, start); // Through a hub there is no address.
  x.answered(outside, "203.0.113.1");
  CHECK(x.may_try(outside, start + 2s));
}

TEST_CASE("of two addresses the one of the own version of IP comes first") {
  auto x = seen_at("2001:db8:1::1");
  CHECK_FALSE(x.prefers(outside, start));
  CHECK_FALSE(x.prefers({}, start));
  CHECK(x.prefers(outside6, start));
  CHECK_FALSE(x.prefers(outside6, start)); // It counts as tried.
  auto y = seen_at("192.168.0.1");         // Whoever is there may see anything.
  CHECK_FALSE(y.prefers(outside, start));
}

TEST_CASE("where this peer itself has answered nobody else is dialled") {
  dial_memory x;
  CHECK_FALSE(x.is_itself(outside, start));
  x.answered_itself(outside, start);
  CHECK(x.is_itself(outside, start));
  CHECK_FALSE(x.is_itself(outside6, start));
  CHECK_FALSE(x.is_itself(outside, start + address_book::own_life));
}

TEST_CASE("who connects from a host that was dialled proves nothing") {
  dial_memory x;
  x.dials(outside.host, start);
  CHECK_FALSE(x.proves_something(outside.host, start));
  CHECK(x.proves_something(outside6.host, start));
}
