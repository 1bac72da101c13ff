#include "actors/averager.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "runtime/planning/planned_windows.hpp"
#include "tests/actors/averaging_table.hpp"

using namespace potluck;
using namespace potluck::averaging;

TEST_CASE("while a round runs its connections have the plan's windows") {
  table t{4};
  t.begin(0);
  t.world.settle();
  // The others have not begun: the round waits.
  auto windows = t.world.network.planned_windows(host(1));
  REQUIRE(windows.size() == 3);
  for (const auto& x : windows)
    CHECK(x.queue == doctest::Approx(largest_planned_queue / 3).epsilon(0.3));
  for (std::size_t i = 1; i < 4; ++i)
    t.begin(i);
  const std::vector<std::size_t> all{0, 1, 2, 3};
  REQUIRE(t.world.run_until([&] { return t.decided(all); }, 5s));
  CHECK(t.world.network.planned_windows(host(1)).empty());
}

TEST_CASE("a round gives every trainer the weighted mean") {
  table t{2, true};
  t.begin_all();
  t.world.settle();
  t.check_mean(0);
  t.check_mean(1);
  CHECK(*t.outcome(0)->mean == *t.outcome(1)->mean);
  // The helper averaged, and needs no mean itself.
  CHECK(plan(collaboration_of(t.contract)).chunks[2] > 0);
  auto helper = t.outcome(2);
  REQUIRE(helper);
  CHECK(helper->committed);
  CHECK(helper->mean == nullptr);
  CHECK(helper->bytes_sent > 0);
  CHECK(t.members[0]->matchmaking->count<round_over>() == 1);
}

TEST_CASE("members that pack differently hold the same bits") {
  table t{4};
  auto shares = plan(collaboration_of(t.contract));
  shares.packings
      = {packing::int8, packing::float32, packing::float16, packing::int8};
  std::vector<potluck::packing> seen;
  t.world.network.judge_frames([&](auto&, auto&, auto& frame) {
    auto x = decode(frame.head.data(), frame.head.size(), frame.body.size);
    if (x && std::holds_alternative<chunk_part>(*x))
      seen.push_back(std::get<chunk_part>(*x).packing);
    if (x && std::holds_alternative<chunk_mean>(*x))
      seen.push_back(std::get<chunk_mean>(*x).packing);
    return memory_network::fate::arrives;
  });
  for (std::size_t i = 0; i < 4; ++i)
    t.begin(i, begin_round{t.contract, shares}, t.gradient(i));
  t.world.settle();
  auto first = t.outcome(0);
  REQUIRE(first);
  REQUIRE(first->committed);
  for (std::size_t i = 0; i < 4; ++i) {
    auto over = t.outcome(i);
    REQUIRE(over);
    CHECK_FALSE(over->healed);
    CHECK(*over->mean == *first->mean);
  }
  // Near the mean: a block's largest value is 14, an int8 step a 127th of it.
  for (std::size_t i = 0; i < values; ++i) {
    double sum = 0;
    for (std::size_t m = 0; m < 4; ++m)
      sum += t.value(m, i);
    CHECK(std::abs(sum / 10 - (*first->mean)[i]) < 0.2);
  }
  CHECK(std::count(seen.begin(), seen.end(), packing::float16) == 6);
  CHECK(std::count(seen.begin(), seen.end(), packing::int8) == 12);
  CHECK(std::count(seen.begin(), seen.end(), packing::float32) == 6);
}

TEST_CASE("members may begin at different times") {
  table t{3};
  t.begin(1);
  t.world.run_for(300ms);
  t.begin(2);
  t.world.run_for(300ms);
  CHECK_FALSE(t.outcome(1));
  t.begin(0);
  t.world.settle();
  for (std::size_t i = 0; i < 3; ++i)
    t.check_mean(i);
}

TEST_CASE("a member without samples gets the mean all the same") {
  table t{3};
  t.contract.members[1].samples = 0;
  t.begin(0);
  t.begin(1, nullptr);
  t.begin(2);
  t.world.settle();
  for (std::size_t i = 0; i < 3; ++i)
    t.check_mean(i);
}

TEST_CASE("a round of one is decided at once") {
  table t{1};
  t.begin(0);
  t.world.settle();
  t.check_mean(0);
}

TEST_CASE("a member lost before its part is left out by all") {
  table t{3};
  t.begin(0);
  t.begin(1);
  t.world.settle();
  CHECK_FALSE(t.outcome(0));
  t.members[2]->crash();
  t.world.run_for(1s);
  REQUIRE(t.decided({0, 1}));
  t.check_healed({0, 1}, 2);
}

TEST_CASE("a round that would count too few samples is dropped by all") {
  table t{3};
  t.contract.least_samples = 4; // The first two have three.
  t.begin(0);
  t.begin(1);
  t.world.settle();
  t.members[2]->crash();
  t.world.run_for(1s);
  REQUIRE(t.decided({0, 1}));
  CHECK_FALSE(t.outcome(0)->committed);
  CHECK_FALSE(t.outcome(1)->committed);
  CHECK(t.outcome(0)->mean == nullptr);
}

TEST_CASE("a member whose reducer fails leaves the round and says so") {
  table t{3};
  t.begin(0);
  t.begin(1);
  // A contract without samples, which no reducer can make a mean of.
  auto broken = t.contract;
  for (auto& m : broken.members)
    m.samples = 0;
  t.begin(2, begin_round{broken, plan(collaboration_of(t.contract))},
          t.gradient(2));
  t.world.settle();
  REQUIRE(t.outcome(2));
  CHECK_FALSE(t.outcome(2)->committed);
  for (std::size_t i = 0; i < 2; ++i) {
    auto told = t.members[i]->matchmaking->contents<group_answer, letter>();
    REQUIRE(told.size() == 1); // Its matchmaking passes it on as this:
    CHECK_FALSE(told[0].accepted);
    caf::anon_send(t.members[i]->wired.averager,
                   member_withdrew{told[0].group, peer(3)});
  }
  t.world.settle();
  REQUIRE(t.decided({0, 1}));
  t.check_healed({0, 1}, 2);
}

namespace {

/// The first of three members, whose reducers can be ended.
struct mortal_reducers {
  mortal_reducers() {
    auto& n = *t.members[0];
    auto config = config_of(n);
    config.reducer_started
        = [this](auto&, const caf::actor& child) { started.push_back(child); };
    n.replace(&wiring::averager, (*n.system).spawn(averager, config));
    t.world.settle(); // It knows the others.
    t.begin(0);
    t.begin(1);
    t.world.settle(); // Parts of two are in the sums.
    REQUIRE_FALSE(started.empty());
  }
  void end_newest() {
    caf::anon_send_exit(started.back(), caf::exit_reason::kill);
    t.world.settle();
  }
  std::size_t faults(const std::string& what) {
    auto all = t.members[0]->observer->events("fault");
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](auto& x) {
          return field<std::string>(x, "what") == what;
        }));
  }

  table t{3};
  std::vector<caf::actor> started;
};

} // namespace

TEST_CASE("the end of a reducer costs its chunk's parts, which come again") {
  mortal_reducers x;
  auto before = x.started.size();
  x.end_newest();
  CHECK(x.started.size() == before + 1);
  CHECK(x.faults("restarted chunk_reducer") == 1);
  CHECK_FALSE(x.t.outcome(0));
  x.t.begin(2);
  x.t.world.settle();
  for (std::size_t i = 0; i < 3; ++i) {
    x.t.check_mean(i);
    CHECK_FALSE(x.t.outcome(i)->healed);
    CHECK(x.t.outcome(i)->left_out.empty());
    // Nobody had to leave the round.
    CHECK(
        x.t.members[i]->matchmaking->contents<group_answer, letter>().empty());
  }
  CHECK(x.faults("left the round") == 0);
}

TEST_CASE("all reducers of a member may end at once") {
  mortal_reducers x;
  for (auto& child : std::vector<caf::actor>{x.started})
    caf::anon_send_exit(child, caf::exit_reason::kill);
  x.t.begin(2);
  x.t.world.settle();
  for (std::size_t i = 0; i < 3; ++i) {
    x.t.check_mean(i);
    CHECK_FALSE(x.t.outcome(i)->healed);
  }
}

TEST_CASE("a member whose reducer ends twice leaves the round and says so") {
  mortal_reducers x;
  x.end_newest();
  x.end_newest();
  REQUIRE(x.t.outcome(0));
  CHECK_FALSE(x.t.outcome(0)->committed);
  CHECK(x.faults("left the round") == 1);
  x.t.begin(2);
  x.t.world.settle();
  for (std::size_t i : {1, 2}) {
    auto told = x.t.members[i]->matchmaking->contents<group_answer, letter>();
    REQUIRE(told.size() == 1); // Its matchmaking passes it on as this:
    caf::anon_send(x.t.members[i]->wired.averager,
                   member_withdrew{told[0].group, peer(1)});
  }
  x.t.world.settle();
  REQUIRE(x.t.decided({1, 2}));
  for (std::size_t i : {1, 2}) {
    CHECK(x.t.outcome(i)->committed); // What it had delivered is in it.
    CHECK(x.t.outcome(i)->healed);
    CHECK(x.t.outcome(i)->left_out == std::vector<std::uint8_t>{0});
    CHECK(*x.t.outcome(i)->mean == *x.t.outcome(1)->mean);
  }
}

TEST_CASE("a member that is gone when the round begins is left out") {
  table t{3};
  t.members[2]->crash();
  t.world.settle();
  t.begin(0);
  t.begin(1);
  t.world.run_for(1s);
  REQUIRE(t.decided({0, 1}));
  t.check_healed({0, 1}, 2);
}

TEST_CASE("a member with a NaN is left out, and the round goes on at once") {
  table t{3};
  auto bad = t.gradient(1);
  for (std::size_t i = 0; i < values; i += 10)
    (*bad)[i] = std::numeric_limits<float>::quiet_NaN();
  t.begin(0);
  t.begin(1, bad);
  t.begin(2);
  REQUIRE(t.world.run_until(
      [&] {
        return t.decided({0, 1, 2});
      },
      patience / 2)); // Nobody had to lose patience.
  for (std::size_t i = 0; i < 3; ++i) {
    t.check_mean(i, {0, 2});
    CHECK_FALSE(t.outcome(i)->healed);
    CHECK(t.outcome(i)->left_out == std::vector<std::uint8_t>{1});
  }
  auto faults = t.members[0]->observer->events("fault");
  REQUIRE_FALSE(faults.empty());
  CHECK(field<std::string>(faults[0], "peer") == short_name(peer(2)));
  // It hears what was refused, and one such round is no reason for a ban.
  auto own = t.members[1]->observer->events("fault");
  CHECK(std::any_of(own.begin(), own.end(), [](auto& x) {
    return field<std::string>(x, "what") == "refused our part";
  }));
  CHECK(t.members[0]->observer->events("ban").empty());
}

TEST_CASE("the next round is not disturbed by letters of the last") {
  table t{2};
  t.begin(0);
  t.world.settle();
  // The second group begins while parts of the first lie around.
  t.contract.group.bytes[0] = 2;
  t.begin_all();
  t.world.settle();
  for (std::size_t i = 0; i < 2; ++i) {
    auto over = t.members[i]->conductor->last<round_over>();
    CHECK(over.committed);
    CHECK(over.contract.group.bytes[0] == 2);
  }
}

TEST_CASE("a member that withdraws is treated as lost") {
  table t{3};
  t.begin(0);
  t.begin(1);
  t.world.settle();
  for (std::size_t i = 0; i < 2; ++i)
    caf::anon_send(t.members[i]->wired.averager,
                   member_withdrew{t.contract.group, peer(3)});
  t.world.settle();
  REQUIRE(t.decided({0, 1}));
  t.check_healed({0, 1}, 2);
}

TEST_CASE("a flood of letters for rounds unknown does not prevent the next") {
  table t{2};
  mean_request junk;
  junk.group.bytes[0] = 77;
  for (int i = 0; i < 10000; ++i)
    t.say(1, 0, junk);
  t.begin(1);
  t.world.settle();
  t.begin(0);
  t.world.settle();
  t.check_mean(0);
  t.check_mean(1);
}
