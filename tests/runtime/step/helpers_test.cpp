#include <doctest/doctest.h>

#include <set>

#include "messages/limits.hpp"
#include "runtime/planning/planner.hpp"
#include "runtime/step/helpers.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

constexpr double median = 1e6;

std::vector<progress_report> auxiliaries(std::uint8_t many) {
  std::vector<progress_report> result;
  for (std::uint8_t i = 0; i < many; ++i) {
    auto x = report(static_cast<std::uint8_t>(100 + i));
    x.role = role::auxiliary;
    result.push_back(x);
  }
  return result;
}

/// A round of one trainer and these, each with a chunk and as much of its line
/// as was chosen.
round_over round_with(const std::vector<helpers::chosen>& all,
                      double seconds = 1) {
  round_over x;
  x.committed = true;
  x.seconds = seconds;
  group_member trainer;
  trainer.who.id = peer(1);
  x.contract.members.push_back(trainer);
  for (const auto& one : all) {
    group_member m;
    m.who.id = one.who;
    m.role = role::auxiliary;
    m.upload_bytes_per_second = one.most_line;
    x.contract.members.push_back(m);
  }
  return x;
}

share_plan plan_for(const round_over& x) {
  share_plan result;
  result.chunks.assign(x.contract.members.size(), 1);
  result.predicted_seconds = 1;
  return result;
}

struct scene {
  /// Chooses, and has a round go well but for these.
  std::vector<helpers::chosen> round(std::uint8_t many, time_point now,
                                     const std::set<peer_id>& bad = {},
                                     double seconds = 1) {
    const auto chosen = it.choose(auxiliaries(many), median, now);
    auto over = round_with(chosen, seconds);
    over.stalled = {bad.begin(), bad.end()};
    it.heard(over, plan_for(over), now);
    return chosen;
  }
  helpers it;
};

} // namespace

TEST_CASE("an auxiliary begins with one trainer's line, and earns the rest") {
  scene x;
  double most = median;
  for (int i = 0; i < 5; ++i, most *= limits::trial_growth) {
    const auto chosen = x.round(1, start);
    REQUIRE(chosen.size() == 1);
    CHECK(chosen[0].most_line == most);
  }
  // Where no trainer knows its line, one is assumed.
  CHECK(helpers{}.choose(auxiliaries(1), 0, start)[0].most_line
        == share_planner::unmeasured_line);
}

TEST_CASE("however many rounds go well, a line stays one that can be told") {
  scene x;
  for (int i = 0; i < 40; ++i)
    CHECK(x.round(1, start)[0].most_line <= max_real);
}

TEST_CASE("those on trial are few, share one line and take turns") {
  scene x;
  std::set<peer_id> tried;
  for (int i = 0; i < 8; ++i) {
    double sum = 0;
    const auto chosen = x.it.choose(auxiliaries(60), median, start);
    CHECK(chosen.size() == limits::most_helpers_on_trial);
    for (const auto& one : chosen) {
      tried.insert(one.who);
      sum += one.most_line;
    }
    CHECK(sum == doctest::Approx(median));
  }
  CHECK(tried.size() == 60);
}

TEST_CASE("a group has so many auxiliaries and no more") {
  scene x;
  for (int i = 0; i < 20; ++i)
    x.round(60, start);
  CHECK(x.round(60, start).size() == limits::most_helpers);
}

TEST_CASE("after a round that waited for one no other is tried for long") {
  scene x;
  const auto honest = x.round(1, start).front().who;
  // The next one holds a round up, which was to take a second, for four.
  const auto all = x.it.choose(auxiliaries(2), median, start);
  REQUIRE(all.size() == 2);
  const auto bad = all[1].who;
  auto over = round_with(all, 5);
  over.stalled = {bad};
  x.it.heard(over, plan_for(over), start);
  const auto rest = limits::trial_rest * 4s;
  for (auto now : {start, start + rest - 1s}) {
    const auto now_chosen = x.it.choose(auxiliaries(2), median, now);
    REQUIRE(now_chosen.size() == 1);
    CHECK(now_chosen[0].who == honest);
    CHECK(now_chosen[0].most_line > median);
  }
  CHECK(x.it.choose(auxiliaries(2), median, start + rest).size() == 2);
}

TEST_CASE(
    "one that held a round up is tried again where nobody else averages") {
  scene x;
  auto over = round_with(x.it.choose(auxiliaries(1), median, start), 5);
  over.stalled = {over.contract.members.back().who.id};
  x.it.heard(over, plan_for(over), start);
  CHECK(x.it.choose(auxiliaries(1), median, start).empty());
  const auto again = x.it.choose(auxiliaries(1), median, start, true);
  REQUIRE(again.size() == 1);
  CHECK(again[0].most_line == median);
}

TEST_CASE("who has proven itself and then stalls begins anew") {
  scene x;
  for (int i = 0; i < 4; ++i)
    x.round(1, start);
  const auto who = x.it.choose(auxiliaries(1), median, start).front();
  CHECK(who.most_line > median);
  x.round(1, start, {who.who}, 1);
  CHECK(x.it.choose(auxiliaries(1), median, start).front().most_line == median);
}

TEST_CASE("nothing is proven without chunks, or by a round that failed") {
  scene x;
  auto over = round_with(x.it.choose(auxiliaries(1), median, start));
  auto plan = plan_for(over);
  SUBCASE("it had no chunk") {
    plan.chunks[1] = 0;
  }
  SUBCASE("the round was aborted") {
    over.committed = false;
  }
  SUBCASE("nobody's line was believed") {
    over.contract.members[1].upload_bytes_per_second = 0;
  }
  x.it.heard(over, plan, start);
  CHECK(x.it.choose(auxiliaries(1), median, start).front().most_line == median);
}
