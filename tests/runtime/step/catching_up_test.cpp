#include <doctest/doctest.h>

#include "runtime/membership/limits.hpp"
#include "runtime/step/catching_up.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

fetch_state begin(catching_up& x, bool alone = false) {
  return x.begin({report(1, 0, 6), report(2, 0, 6)}, report(5, 12), state(3),
                 alone, false, start);
}

} // namespace

TEST_CASE("a download names the goal, where this peer stands, and all donors") {
  catching_up x;
  CHECK(x.may_begin(start));
  auto order = begin(x);
  CHECK(order.goal.step == 6);
  CHECK(order.goal.state == state(6));
  CHECK(order.goal.own_step == 3);
  CHECK(order.goal.own_state == state(3));
  CHECK(order.goal.donors == std::vector<peer_id>{peer(1), peer(2)});
  CHECK(
      begin(x, true).goal.state.empty()); // Each donor has a state of its own.
  // Of a next step its mean alone will do.
  CHECK(x.begin({report(1, 0, 4)}, report(5), state(3), false, true, start)
            .goal.state.empty());
}

TEST_CASE("a download in vain is paid for with patience") {
  catching_up x;
  begin(x);
  auto failed = start + 10s;
  SUBCASE("twice the time that it took") {
    CHECK(x.failed(state(3), false, false, failed)
          == catching_up::outcome::in_vain);
    CHECK_FALSE(x.may_begin(failed + 19s));
    CHECK(x.may_begin(failed + 21s));
  }
  SUBCASE("but what was put aside is gone on with soon") {
    x.failed(state(3), true, false, failed);
    CHECK(x.may_begin(failed + limits::fetch_backoff));
  }
  SUBCASE("nor has anybody to wait for the liars' sake") {
    x.failed(state(3), false, true, failed);
    CHECK(x.may_begin(failed));
  }
  SUBCASE("and some of the way counts") {
    CHECK(x.failed(state(4), false, false, failed)
          == catching_up::outcome::partly);
    CHECK(x.may_begin(failed + limits::fetch_backoff));
  }
}

TEST_CASE("a batch that ended meanwhile was not counted") {
  catching_up x;
  begin(x);
  x.batch_ended();
  CHECK(x.failed(state(3), true, false, start + 1s)
        == catching_up::outcome::uncounted);
  begin(x);
  CHECK(x.failed(state(3), true, false, start + 2s)
        == catching_up::outcome::in_vain);
}
