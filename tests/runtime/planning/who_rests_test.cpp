#include "runtime/planning/who_rests.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "runtime/planning/planner.hpp"
#include "runtime/planning/strategy_plan.hpp"
#include "tests/runtime/planning/group_by_lines.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

/// Trainers with these uplinks in MB/s, downlinks of 10 MB/s, and so many
/// samples each; gradients of 4 MB, and a second of computing.
group_contract homes(const std::vector<double>& uplinks,
                     const std::vector<std::uint64_t>& samples) {
  auto x = group_by_lines(uplinks.size(), 0, [](auto, auto) { return true; });
  x.computing_ms = 1000;
  for (std::size_t i = 0; i < uplinks.size(); ++i) {
    x.members[i].upload_bytes_per_second = 1e6 * uplinks[i];
    x.members[i].download_bytes_per_second = 1e7;
    x.members[i].samples = samples[i];
  }
  return x;
}

group_contract random_homes(std::size_t trainers, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::normal_distribution<double> normal;
  auto x = homes(std::vector<double>(trainers, 1),
                 std::vector<std::uint64_t>(trainers, 1));
  x.computing_ms = static_cast<std::uint32_t>(2000 * std::exp(normal(random)));
  for (auto& m : x.members) {
    m.upload_bytes_per_second = 1e6 * std::exp(normal(random));
    m.download_bytes_per_second = 4 * m.upload_bytes_per_second;
    m.samples = 1 + static_cast<std::uint64_t>(100 * std::exp(normal(random)));
  }
  return x;
}

double seconds_with(const group_contract& x, const std::vector<bool>& rests,
                    const plan_rules& rules = {}) {
  auto input = collaboration_of(x, rules);
  double all = 0;
  double left = 0;
  for (std::size_t i = 0; i < rests.size(); ++i) {
    input.peers[i].computes = !rests[i];
    all += static_cast<double>(x.members[i].samples);
    left += rests[i] ? 0 : static_cast<double>(x.members[i].samples);
  }
  const auto computing = x.computing_ms / 1e3 * all / left;
  const auto exchange = plan(input).predicted_seconds;
  return rules.overlaps ? std::max(computing, exchange) : computing + exchange;
}

std::size_t resting_in(const resting_choice& x) {
  return static_cast<std::size_t>(
      std::count(x.rests.begin(), x.rests.end(), true));
}

} // namespace

TEST_CASE("who has a thin uplink and few samples rests") {
  const auto x = homes({4, 4, 4, 0.25}, {30, 30, 30, 10});
  const auto choice = choose_resting(x);
  CHECK(choice.rests == std::vector<bool>{false, false, false, true});
  CHECK(choice.seconds == doctest::Approx(seconds_with(x, choice.rests)));
  CHECK(choice.seconds_all
        == doctest::Approx(seconds_with(x, std::vector<bool>(4, false))));
  CHECK(choice.seconds_all > 5 * choice.seconds);
}

TEST_CASE("who computes most of the batch does not rest for its line") {
  auto x = homes({4, 4, 4, 0.25}, {1, 1, 1, 97});
  x.computing_ms = 10000;
  CHECK(resting_in(choose_resting(x)) == 0);
}

TEST_CASE("a tenth is what resting has to be worth") {
  auto x = homes({4, 4, 4, 2.5}, {30, 30, 30, 10});
  for (std::uint32_t computing : {100, 1000, 3000, 10000, 30000}) {
    x.computing_ms = computing;
    const auto choice = choose_resting(x);
    CHECK((resting_in(choice) == 0
           || choice.seconds * worth_resting <= choice.seconds_all));
    CHECK((resting_in(choice) != 0 || choice.seconds == choice.seconds_all));
  }
}

TEST_CASE("equal homes all compute, and one alone does") {
  CHECK(resting_in(choose_resting(homes({2, 2, 2, 2}, {9, 9, 9, 9}))) == 0);
  CHECK(resting_in(choose_resting(homes({2}, {9}))) == 0);
}

TEST_CASE("values in fewer bytes are reason to compute on") {
  auto x = homes({4, 4, 4, 1}, {30, 30, 30, 10});
  x.computing_ms = 9000;
  plan_rules rules;
  CHECK(resting_in(choose_resting(x, rules)) == 1);
  rules.packs = packing::int8;
  CHECK(resting_in(choose_resting(x, rules)) == 0);
}

TEST_CASE("never more than half rest, whatever somebody claims") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    auto x = random_homes(2 + seed % 9, seed);
    x.members.back().samples = 1'000'000'000'000;
    CHECK(resting_in(choose_resting(x)) <= x.members.size() / 2);
  }
}

TEST_CASE("nobody rests where lines or speeds are not known, or shares are "
          "not planned, or it will not") {
  const auto good = homes({4, 4, 4, 0.25}, {30, 30, 30, 10});
  REQUIRE(resting_in(choose_resting(good)) == 1);
  auto x = good;
  x.computing_ms = 0;
  CHECK(resting_in(choose_resting(x)) == 0);
  x = good;
  x.members[1].samples = 0;
  CHECK(resting_in(choose_resting(x)) == 0);
  x = good;
  for (auto& m : x.members)
    m.upload_bytes_per_second = m.download_bytes_per_second = 0;
  CHECK(resting_in(choose_resting(x)) == 0);
  CHECK(resting_in(choose_resting(good, share_rule::all_reduce)) == 0);
  CHECK(resting_in(choose_resting(good, {}, {numbered(3)})) == 0);
}

TEST_CASE("the search finds nearly the best of all sets") {
  double worst = 1;
  int resting = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto n = 3 + seed % 6;
    const auto x = random_homes(n, 1000 + seed);
    plan_rules rules;
    rules.overlaps = seed % 2 == 1;
    const auto choice = choose_resting(x, rules);
    resting += resting_in(choice) > 0;
    auto best = seconds_with(x, std::vector<bool>(n, false), rules);
    const auto all = best;
    for (std::size_t set = 1; set < std::size_t{1} << n; ++set) {
      std::vector<bool> rests;
      for (std::size_t i = 0; i < n; ++i)
        rests.push_back((set >> i & 1) != 0);
      if (static_cast<std::size_t>(std::count(rests.begin(), rests.end(), true))
          <= n / 2)
        best = std::min(best, seconds_with(x, rests, rules));
    }
    // Less is not worth it.
    if (best * worth_resting <= all)
      worst = std::min(worst, best / choice.seconds);
  }
  MESSAGE(resting, " of 60 groups rest; ", worst,
          " of the best of all sets' speed at worst");
  CHECK(resting > 10);
  CHECK(worst > 0.99);
}

TEST_CASE("with delayed updates it is the published objective, and near its "
          "optimum") {
  // There shares are rates, and part of a part may be averaged in two places.
  plan_rules rules;
  rules.overlaps = true;
  double worst = 1;
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const auto x = random_homes(4 + seed % 4, 2000 + seed);
    strategy_problem problem;
    problem.gradient_bytes = 4e6;
    for (std::size_t i = 0; i < x.members.size(); ++i) {
      const auto& m = x.members[i];
      strategy_peer p;
      p.id = std::to_string(i);
      p.samples_per_second
          = static_cast<double>(m.samples) / (x.computing_ms / 1e3);
      p.upload = m.upload_bytes_per_second;
      p.download = m.download_bytes_per_second;
      problem.peers.push_back(p);
      problem.target_batch += static_cast<double>(m.samples);
    }
    const auto best = plan_strategy(problem, 1000);
    const auto computing = static_cast<std::size_t>(
        std::count_if(best.peers.begin(), best.peers.end(),
                      [](const auto& p) { return p.computes; }));
    if (2 * computing < x.members.size())
      continue; // More rest than may in a run.
    ++compared;
    worst = std::min(worst, 1 / choose_resting(x, rules).seconds
                                / best.steps_per_second);
  }
  MESSAGE(worst, " of the published optimum at worst, of ", compared);
  CHECK(compared >= 8);
  CHECK(worst > 1 / worth_resting - 0.01);
}

TEST_CASE("it does not take long with as many as a group has") {
  auto x = random_homes(64, 5);
  const auto began = std::chrono::steady_clock::now();
  const auto choice = choose_resting(x);
  const std::chrono::duration<double> took
      = std::chrono::steady_clock::now() - began;
  MESSAGE(took.count(), " s for 64 trainers, of whom ", resting_in(choice),
          " rest");
  CHECK(took.count() < 2);
}
