#include <doctest/doctest.h>

#include "runtime/config.hpp"
#include "runtime/step/step_pace.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

TEST_CASE("contributors look as often as steps are long") {
  step_pace x{start};
  CHECK_FALSE(x.begin_step(start)); // No step has ended yet.
  auto pace = x.begin_step(start + 60s);
  REQUIRE(pace);
  CHECK(pace->look == pace_of(60s).look);
  CHECK_FALSE(x.begin_step(start + 120s)); // The same again.
  CHECK(x.since(start + 121s) == 1s);
}

TEST_CASE("a step that lasts changes the pace before it ends") {
  step_pace x{start};
  CHECK_FALSE(x.look(start + 10s));
  CHECK(x.look(start + 60s));
  CHECK_FALSE(x.look(start + 61s)); // Not with every second.
}

TEST_CASE("members look around at once, contributors by their pace") {
  step_pace x{start};
  CHECK(x.next_look(false, peer(1), start) == limits::conductor_interval);
  CHECK(x.next_look(true, peer(1), start) <= x.pace().look);
  CHECK(x.longest_batch(false, start) == limits::longest_batch);
  CHECK(x.longest_batch(true, start) == x.pace().batch);
}
