#include <doctest/doctest.h>

#include "runtime/membership/limits.hpp"
#include "runtime/step/finishing.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

constexpr std::uint64_t steps = 4;

std::map<peer_id, progress_report> one(std::uint64_t step, phase what) {
  auto x = report(1, 0, step);
  x.phase = what;
  return {{x.id, x}};
}

} // namespace

TEST_CASE("a peer goes when nobody needs it, once") {
  finishing x{steps};
  CHECK_FALSE(x.may_go({}, state(4), start)); // It is not through.
  x.made_last_step(false, start);
  CHECK(x.may_go({}, state(4), start));
  CHECK(x.over());
  CHECK_FALSE(x.may_go({}, state(4), start));
}

TEST_CASE("a checkpoint is waited for") {
  finishing x{steps};
  x.made_last_step(true, start);
  x.checkpoint_saved(3, "no space left"); // An earlier one.
  CHECK_FALSE(x.may_go({}, state(4), start));
  SUBCASE("until it is written") {
    x.checkpoint_saved(4, "");
    CHECK(x.unsaved().empty());
  }
  SUBCASE("or cannot be, which is said") {
    x.checkpoint_saved(4, "cannot write x: no room");
    CHECK(x.unsaved().find("cannot write x: no room.") != std::string::npos);
  }
  CHECK(x.may_go({}, state(4), start));
}

TEST_CASE("a laggard is waited for as long as it gets further") {
  finishing x{steps};
  x.made_last_step(false, start);
  auto later = start + limits::laggard_linger - 1s;
  CHECK_FALSE(x.may_go(one(2, phase::accumulating), state(4), start));
  CHECK_FALSE(x.may_go(one(3, phase::accumulating), state(4), later));
  CHECK_FALSE(x.may_go(one(3, phase::accumulating), state(4), later + 2s));
  SUBCASE("until it has the last state") {
    CHECK(x.may_go(one(4, phase::finished), state(4), later + 3s));
  }
  SUBCASE("but another last state is none") {
    CHECK_FALSE(x.may_go(one(4, phase::finished), state(9), later + 3s));
  }
  SUBCASE("but not for ever") {
    CHECK(x.may_go(one(3, phase::accumulating), state(4),
                   later + limits::laggard_linger));
  }
}

TEST_CASE("a trainer that was lost without a goodbye may come back") {
  finishing x{steps};
  x.lost_trainer(start);
  x.made_last_step(false, start + 1s);
  CHECK_FALSE(x.may_go({}, state(4), start + 2s));
  CHECK(x.may_go({}, state(4), start + limits::finish_linger));
}

TEST_CASE("as many as are left have finished: no other end of the run") {
  finishing x{steps};
  auto done = report(1, 0, 4);
  done.phase = phase::finished;
  x.heard(done);
  CHECK(x.outnumbers(1));
  CHECK_FALSE(x.outnumbers(2));
  SUBCASE("it is found training after all") {
    x.heard(report(1, 0, 2));
    CHECK_FALSE(x.outnumbers(1));
  }
  SUBCASE("an earlier step is no end") {
    done.id = peer(2);
    done.step = 3;
    x.heard(done);
    CHECK_FALSE(x.outnumbers(2));
  }
  SUBCASE("given up after a while, once") {
    CHECK_FALSE(x.too_late(true, start));
    CHECK_FALSE(x.too_late(false, start + 1min));
    CHECK_FALSE(x.too_late(true, start + 2min));
    CHECK(x.too_late(true, start + 2min + limits::laggard_linger));
    CHECK_FALSE(x.too_late(true, start + 1h));
  }
}

TEST_CASE("those that were strangers when they said so do not count later") {
  finishing x{steps};
  auto done = report(1, 0, 4);
  done.phase = phase::finished;
  x.heard(done);
  x.forget_strangers();
  CHECK_FALSE(x.outnumbers(1));
}
