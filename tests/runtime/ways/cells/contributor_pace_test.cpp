#include "runtime/ways/cells/contributor_pace.hpp"

#include <doctest/doctest.h>

#include "messages/limits.hpp"
#include "runtime/config.hpp"

using namespace potluck;
using namespace std::chrono_literals;

TEST_CASE("the longer the steps, the less a contributor has to say, within "
          "limits") {
  contributor_pace at_first;
  CHECK(pace_of(0s) == at_first);
  CHECK(pace_of(5s) == at_first);
  auto x = pace_of(30s);
  CHECK(x.look == 3s);
  CHECK(x.batch == 2500ms);
  CHECK(x.report == 10s);
  auto slow = pace_of(1h);
  CHECK(slow.look == limits::longest_look);
  CHECK(slow.batch == limits::contributors_longest_batch);
  CHECK(slow.report == limits::longest_report_pause);
}

TEST_CASE("batches grow shorter towards the moment at which a sponsor asks") {
  auto pace = pace_of(60s);
  CHECK(longest_batch_now(pace, 1s, std::nullopt) == pace.batch);
  CHECK(longest_batch_now(pace, 0s, 40s) == pace.batch);
  CHECK(longest_batch_now(pace, 32s, 40s) == 2s);
  CHECK(longest_batch_now(pace, 40s, 40s) == limits::longest_batch);
  // It passed by: others left, or there are more samples to wait for.
  CHECK(longest_batch_now(pace, 48s, 40s) == 2s);
  CHECK(longest_batch_now(pace, 1h, 40s) == pace.batch);
  // What is under way at that moment is short, however many come before.
  auto since = duration{0};
  int batches = 0;
  for (; since < 40s; ++batches)
    since += longest_batch_now(pace, since, 40s);
  CHECK(since - 40s < 500ms);
  CHECK(batches <= 24); // 8 without.
  // Nothing is too short or too long for the limits.
  CHECK(longest_batch_now(pace_of(5s), 4s, 4s) == limits::longest_batch);
}

TEST_CASE("a peer looks at the same moments with all its actors, and at others "
          "than its neighbours") {
  auto look = duration{5s};
  peer_id a;
  peer_id b;
  b.bytes[0] = 77;
  time_point now{123456789012345ns};
  auto next_a = now + until_next_look(now, look, a);
  for (auto later : {0ns, 1ns, 1000ns, 1000000ns}) {
    auto t = now + later;
    CHECK(t + until_next_look(t, look, a) == next_a);
  }
  CHECK(until_next_look(next_a, look, a) == look);
  auto next_b = now + until_next_look(now, look, b);
  CHECK(next_b != next_a);
  CHECK(next_b - now > 0s);
  CHECK(next_b - now <= look);
}
