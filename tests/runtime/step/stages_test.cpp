#include <utility>

#include <doctest/doctest.h>

#include "runtime/step/stages.hpp"

using namespace potluck;

TEST_CASE("a step goes round once") {
  auto at = stage::starting;
  for (auto [why, to] : {std::pair{cause::state_shown, stage::accumulating},
                         std::pair{cause::group_asked, stage::frozen},
                         std::pair{cause::formed, stage::averaging},
                         std::pair{cause::committed, stage::applying},
                         std::pair{cause::state_shown, stage::accumulating}}) {
    auto next = next_stage(at, why);
    REQUIRE(next);
    CHECK(*next == to);
    at = *next;
  }
}

TEST_CASE("what fails leads back to accumulating") {
  CHECK(next_stage(stage::frozen, cause::came_apart) == stage::accumulating);
  CHECK(next_stage(stage::averaging, cause::aborted) == stage::accumulating);
  CHECK(next_stage(stage::fetching, cause::not_fetched) == stage::accumulating);
  CHECK(next_stage(stage::fetching, cause::last_kept) == stage::finished);
}

TEST_CASE("whoever holds no state of the run fetches one before it begins") {
  CHECK(next_stage(stage::starting, cause::behind) == stage::fetching);
  CHECK(next_stage(stage::fetching, cause::none_held) == stage::starting);
}

TEST_CASE("no group is joined in a round, a download or after the end") {
  for (auto x : {stage::starting, stage::averaging, stage::applying,
                 stage::fetching, stage::finished})
    CHECK_FALSE(next_stage(x, cause::group_asked));
}

TEST_CASE("no mean is applied twice, or on a state that is being replaced") {
  for (auto x : {stage::applying, stage::fetching, stage::finished})
    CHECK_FALSE(next_stage(x, cause::committed));
}
