#include "runtime/planning/pair_shares.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <doctest/doctest.h>

#include "runtime/planning/linear_program.hpp"
#include "tests/runtime/planning/random_network.hpp"

using namespace potluck;
using relation = linear_program::relation;

namespace {

double sum(const std::vector<double>& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

/// The largest sum by GLPK.
double by_program(const std::vector<double>& most,
                  const std::vector<shared_bound>& bounds) {
  linear_program program{most.size()};
  program.require({{0, 1.0}}, relation::at_most, most[0]); // It needs a row.
  for (std::size_t i = 0; i < most.size(); ++i) {
    program.cost(i, -1);
    program.limit(i, most[i]);
  }
  for (const auto& x : bounds)
    program.require({{x.a, 1.0}, {x.b, 1.0}}, relation::at_most, x.most);
  auto found = program.solve();
  REQUIRE(found);
  return -found->objective;
}

void check_kept(const std::vector<double>& shares,
                const std::vector<double>& most,
                const std::vector<shared_bound>& bounds) {
  REQUIRE(shares.size() == most.size());
  for (std::size_t i = 0; i < most.size(); ++i) {
    CHECK(shares[i] >= 0);
    CHECK(shares[i] <= most[i]);
  }
  for (const auto& x : bounds)
    CHECK(shares[x.a] + shares[x.b] <= x.most + 1e-12);
}

} // namespace

TEST_CASE("shares with bounds together are as large as GLPK's answer") {
  std::size_t mattered = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    test::random_networks random{seed};
    const auto n = 2 + random.below(12);
    std::vector<double> most;
    for (std::size_t i = 0; i < n; ++i)
      most.push_back(random.chance(0.1) ? 0 : random.power(-2, 0));
    std::vector<shared_bound> bounds;
    const auto density = random.power(-1.5, 0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (i != j && random.chance(density))
          bounds.push_back(
              {i, j, random.chance(0.1) ? 0 : random.power(-2, 0)});
    auto shares = most_together(most, bounds);
    check_kept(shares, most, bounds);
    auto best = by_program(most, bounds);
    CHECK(sum(shares) == doctest::Approx(best).epsilon(1e-9));
    mattered += best < sum(most) * (1 - 1e-9);
    CHECK(most_together(most, bounds) == shares); // The same bits again.
  }
  CHECK(mattered > 1000);
}

TEST_CASE("one peer with thin connections to all leaves the shares to them") {
  std::vector<double> most(6, 0.5);
  std::vector<shared_bound> bounds;
  for (std::size_t i = 1; i < 6; ++i)
    bounds.push_back({0, i, 0.1});
  auto shares = most_together(most, bounds);
  CHECK(sum(shares) == doctest::Approx(0.5));
  CHECK(shares[0] == doctest::Approx(0));
}

TEST_CASE("three in a ring get half of a bound each") {
  auto shares
      = most_together({1, 1, 1}, {{0, 1, 0.2}, {1, 2, 0.2}, {2, 0, 0.2}});
  for (auto x : shares)
    CHECK(x == doctest::Approx(0.1));
}

TEST_CASE("of bounds of too many shares the tightest are kept") {
  test::random_networks random{7};
  std::vector<double> most(paired_shares + 40, 1);
  std::vector<shared_bound> bounds;
  for (std::size_t i = 0; i + 1 < most.size(); ++i)
    bounds.push_back({i, i + 1, random.power(-2, 0)});
  auto shares = most_together(most, bounds);
  std::set<std::size_t> held;
  for (const auto& x : bounds)
    if (shares[x.a] + shares[x.b] <= x.most + 1e-12)
      held.insert({x.a, x.b});
  auto tightest
      = *std::min_element(bounds.begin(), bounds.end(),
                          [](auto& x, auto& y) { return x.most < y.most; });
  CHECK(held.count(tightest.a) == 1);
  CHECK(held.size() >= paired_shares / 2);
}
