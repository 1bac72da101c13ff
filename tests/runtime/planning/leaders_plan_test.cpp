#include "runtime/planning/leaders_plan.hpp"

#include <doctest/doctest.h>

#include "runtime/matchmaking/contract_plans.hpp"
#include "tests/runtime/planning/group_by_lines.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

/// Three equal members and a thousand chunks: one of them has one chunk more.
group_contract a_tie() {
  return group_by_lines(3, 0, [](auto, auto) { return true; });
}

digest with_chunks(share_plan x, const std::vector<std::uint32_t>& chunks) {
  x.chunks = chunks;
  return plan_digest(x);
}

} // namespace

TEST_CASE("shares that differ in the last digits may give a chunk to another "
          "member: then the leader's plan is taken") {
  auto x = a_tie();
  const auto own = plan(collaboration_of(x));
  REQUIRE(own.chunks == std::vector<std::uint32_t>{334, 333, 333});
  auto shares = own.shares;
  for (auto& share : shares)
    share = 1.0 / 3;
  // As another build may have it.
  shares[2] = 1.0 / 3 + 1e-6;
  const auto theirs = whole_chunks(shares, 1000);
  REQUIRE(theirs == std::vector<std::uint32_t>{333, 333, 334});

  contract_plans plans{share_rule::planned};
  CHECK(plans.of(x).chunks == own.chunks);
  x.plan = with_chunks(own, theirs);
  CHECK(plans.of(x).chunks == theirs);
  CHECK(plan_digest(plans.of(x)) == x.plan);
  CHECK(plans.of(x).shares[2] == doctest::Approx(0.334));
  // And again the own one, from a leader of the own build.
  x.plan = plan_digest(own);
  CHECK(plans.of(x).chunks == own.chunks);
}

TEST_CASE("whatever differs by more is not") {
  auto x = a_tie();
  const auto own = plan(collaboration_of(x));
  contract_plans plans{share_rule::planned};
  auto refused = [&](const std::vector<std::uint32_t>& chunks) {
    x.plan = with_chunks(own, chunks);
    return plan_digest(plans.of(x)) != x.plan;
  };
  CHECK(refused({336, 332, 332}));
  CHECK(refused({1000, 0, 0}));
  CHECK(refused({0, 0, 0}));
  CHECK_FALSE(refused({333, 334, 333}));
}

TEST_CASE("who has no line to all gets no chunk, and one chunk of few is too "
          "much") {
  auto x = group_by_lines(4, 0,
                          [](auto a, auto b) { return !(a == 2 && b == 3); });
  const auto input = collaboration_of(x);
  const auto own = plan(input);
  REQUIRE(own.chunks == std::vector<std::uint32_t>{500, 500, 0, 0});
  CHECK(leaders_plan(input, own, with_chunks(own, {501, 499, 0, 0})));
  CHECK_FALSE(leaders_plan(input, own, with_chunks(own, {500, 499, 1, 0})));
  x.chunk_values = 100000; // Ten chunks.
  const auto coarse = collaboration_of(x);
  const auto five = plan(coarse);
  REQUIRE(five.chunks == std::vector<std::uint32_t>{5, 5, 0, 0});
  CHECK_FALSE(leaders_plan(coarse, five, with_chunks(five, {6, 4, 0, 0})));
}
