#include <doctest/doctest.h>

#include "runtime/step/slow_leaders.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

TEST_CASE("contracts in time, or as late as steps are long, are no fault") {
  slow_leaders x;
  for (auto now = start; now < start + 1h; now += 20s) {
    x.waited(peer(1), 1s, 2s, now);
    x.waited(peer(2), 5s, 20s, now);
    CHECK_FALSE(x.has(peer(1), now));
    CHECK_FALSE(x.has(peer(2), now));
  }
}

TEST_CASE("a late contract now and then is no fault either") {
  slow_leaders x;
  for (auto now = start; now < start + 1h; now += 20s) {
    x.waited(peer(1), 6s, 1s, now);
    CHECK_FALSE(x.has(peer(1), now));
  }
}

TEST_CASE("who is late again and again leads no more, for longer each time") {
  slow_leaders x;
  auto now = start;
  auto lateness = [&](std::uint8_t leader) {
    duration lost{0};
    for (; !x.has(peer(leader), now); now += 3s, lost += 2s)
      x.waited(peer(leader), 3s, 1s, now);
    return lost;
  };
  const duration once = limits::contract_credit;
  CHECK(lateness(1) <= 3 * once);
  CHECK(x.has(peer(1), now + limits::slow_leaders_rest - 10s));
  CHECK_FALSE(x.has(peer(1), now + limits::slow_leaders_rest));
  // The next one has no more than a part of that, under whatever key.
  CHECK(lateness(2) < 2 * once);
  CHECK_FALSE(x.has(peer(3), now));
  now += limits::slow_leaders_rest;
  lateness(1);
  CHECK(x.has(peer(1), now + 2 * limits::slow_leaders_rest - 10s));
}

TEST_CASE("keys without number fill no memory") {
  slow_leaders x;
  for (int i = 0; i < 1000; ++i) {
    auto id = peer(9);
    id.bytes[1] = static_cast<std::uint8_t>(i);
    id.bytes[2] = static_cast<std::uint8_t>(i / 256);
    x.waited(id, 100s, 1s, start + i * 1ms);
  }
  auto last = peer(9);
  last.bytes[1] = 999 % 256;
  last.bytes[2] = 999 / 256;
  CHECK(x.has(last, start + 1s));
}
