/// The conductor of a run that begins as one and goes over to redrawn groups.
#include <doctest/doctest.h>

#include "runtime/moshpit/moshpit_vector.hpp"
#include "tests/actors/conductor_stage.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t first = 3 + redraw_latch::notice;

charter of_groups_of_two(const std::string& averaging) {
  auto settings = tiny_charter(100, batch).settings();
  settings.averaging_method = averaging;
  settings.group_size = 2;
  return {settings, ""};
}

struct crowded_stage : stage {
  explicit crowded_stage(const std::string& averaging = "auto",
                         std::shared_ptr<redraw_latch> latch = nullptr)
      : stage(role::trainer, false, 0, of_groups_of_two(averaging),
              std::move(latch)) {
  }

  /// One step of this peer and another, each with a crowd behind it of which
  /// half cannot be reached, by a contract that asks for redrawn groups.
  void crowded_step(std::uint64_t step, bool asks = true) {
    compute_all();
    group_formed formed;
    formed.contract.group.bytes[0] = static_cast<std::uint8_t>(step);
    tell(freeze_wanted{formed.contract.group});
    formed.contract.step = step;
    formed.contract.gradient_values = 10'000'000;
    for (std::uint8_t who : {5, 6}) {
      struct group_member x;
      x.who = contact_of(who);
      x.samples = batch;
      x.upload_bytes_per_second = x.download_bytes_per_second = 1e6;
      x.cell = {1e4, 30, asks ? 15u : 0u, 1e6, 1e6};
      formed.contract.members.push_back(x);
    }
    tell(formed);
    tell(gradient_lent{std::make_shared<std::vector<float>>()});
    end_round(formed, true);
    REQUIRE(compute->last<apply_mean>().step == step);
    hold(step, true);
  }
  progress_report told() const {
    return roster->last<own_report>().report;
  }
  /// From a trainer that holds `redraws_from` to be the first such step.
  progress_report from(std::uint8_t number, std::uint64_t step,
                       std::uint64_t redraws_from) {
    auto r = report(number, step);
    r.redraws_from = redraws_from;
    if (redraws_from != 0 && step >= redraws_from)
      r.state = nominal_state(agreed.digest(), step);
    return r;
  }
  std::size_t switches() const {
    return observer->events("redrawing").size();
  }
};

} // namespace

TEST_CASE(
    "contracts of three steps decide, all hear from when on, and then the "
    "groups are redrawn") {
  crowded_stage x;
  x.hold(0);
  x.crowded_step(1);
  x.crowded_step(2);
  CHECK(x.told().redraws_from == 0);
  x.crowded_step(3);
  CHECK(x.told().redraws_from == first);
  CHECK(x.switches() == 1);
  for (std::uint64_t step = 4; step < first - 1; ++step)
    x.crowded_step(step);
  CHECK_FALSE(x.facts().redrawn);
  CHECK(x.facts().gradient_values == tiny_trainer::values);
  CHECK_FALSE(x.compute->last<lend_gradient>().with_parameters);
  CHECK_FALSE(x.averager->last<begin_round>().keeps_majority);
  CHECK_FALSE(x.compute->last<apply_mean>().redrawn);
  CHECK(x.state_keeper->count<mean_applied>() == first - 2);

  // The last step as one: all hold the same, and say so, but invite apart.
  x.crowded_step(first - 1);
  CHECK(x.told().state == state_after(first - 1));
  CHECK(x.facts().redrawn);
  CHECK(x.facts().state == nominal_state(x.agreed.digest(), first - 1));
  CHECK(x.facts().gradient_values == moshpit_values(tiny_trainer::values));
  CHECK(x.switches() == 2);

  x.crowded_step(first);
  CHECK(x.compute->last<lend_gradient>().with_parameters);
  CHECK(x.averager->last<begin_round>().keeps_majority);
  CHECK(x.compute->last<apply_mean>().redrawn);
  CHECK(x.told().state == nominal_state(x.agreed.digest(), first));
  CHECK(x.state_keeper->count<mean_applied>() == first - 1); // No more.
  auto steps = x.observer->events("step");
  CHECK_FALSE(field<std::string>(steps.back(), "digest").empty());
  auto plans = x.observer->events("plan");
  CHECK(field<std::string>(plans.front(), "averaging") == "moshpit");
  CHECK(field<std::string>(plans.front(), "averaging_why")
            .find("a step instead of")
        != std::string::npos);
}

TEST_CASE("contracts that do not ask, or settings that say exact, change "
          "nothing") {
  for (bool asks : {true, false}) {
    crowded_stage x{asks ? "exact" : "auto"};
    x.hold(0);
    for (std::uint64_t step = 1; step <= first + 2; ++step)
      x.crowded_step(step, asks);
    CHECK(x.told().redraws_from == 0);
    CHECK_FALSE(x.facts().redrawn);
    CHECK(x.told().state == state_after(first + 2));
    CHECK(x.switches() == 0);
    CHECK(field<std::string>(x.observer->events("plan").back(), "averaging")
          == "two levels");
  }
}

TEST_CASE("who has missed the contracts follows most of the others, and not "
          "one") {
  crowded_stage x;
  x.hold(7);
  for (std::uint8_t i = 1; i <= 3; ++i)
    x.join(i);
  x.hear(x.from(1, 7, 5));
  x.hear(x.from(2, 7, 0));
  x.hear(x.from(3, 7, 0));
  x.world.run_for(2s);
  CHECK(x.told().redraws_from == 0);
  CHECK_FALSE(x.facts().redrawn);
  x.hear(x.from(2, 7, 5));
  x.hear(x.from(3, 7, 5));
  x.world.run_for(2s);
  CHECK(x.told().redraws_from == 5);
  CHECK(x.facts().redrawn);
  CHECK(x.told().state == nominal_state(x.agreed.digest(), 7));
}

TEST_CASE("who was misled goes back to the others, from whom it was told apart "
          "by its state") {
  crowded_stage x;
  x.hold(7);
  x.join(1);
  x.hear(x.from(1, 7, 5)); // A liar, while nobody else is there.
  x.world.run_for(2s);
  REQUIRE(x.facts().redrawn);
  for (std::uint8_t i = 2; i <= 4; ++i) {
    x.join(i);
    x.hear(x.from(i, 7, 0));
  }
  x.world.run_for(2s);
  CHECK_FALSE(x.facts().redrawn);
  CHECK(x.told().redraws_from == 0);
  CHECK(x.told().state == state_after(7));
}

TEST_CASE("who comes into such a run takes the state of one, whatever its own "
          "is") {
  crowded_stage x;
  x.hold(0);
  for (std::uint8_t i = 1; i <= 3; ++i)
    x.join(i);
  for (std::uint8_t i = 1; i <= 3; ++i)
    x.hear(x.from(i, 9, 5));
  REQUIRE(x.state_keeper->count<fetch_state>() >= 1);
  x.world.run_for(2s);
  auto goal = x.state_keeper->last<fetch_state>().goal;
  CHECK(goal.alone);
  CHECK(goal.step == 9);
  CHECK(goal.donors.size() == 1);
}

TEST_CASE("a new conductor knows what the one before it had decided") {
  auto latch = std::make_shared<redraw_latch>();
  {
    crowded_stage x{"auto", latch};
    x.hold(0);
    for (std::uint64_t step = 1; step <= 3; ++step)
      x.crowded_step(step);
  }
  crowded_stage next{"auto", latch};
  next.hold(first - 1);
  CHECK(next.told().redraws_from == first);
  CHECK(next.facts().redrawn);
}

TEST_CASE("a sponsor says what its cell is, for the plan") {
  crowded_stage x;
  auto cell = x.pretend_cell();
  x.hold(1);
  x.tell(cell_standing{});
  for (std::uint8_t i = 1; i <= 3; ++i) {
    x.join(i);
    auto r = x.report(i, 1);
    r.contributes = true;
    r.sponsor = peer(5);
    r.apart = i < 3;
    r.samples_per_second = 10;
    r.upload_bytes_per_second = 100 * i;
    r.download_bytes_per_second = 1000 * i;
    x.hear(r);
  }
  x.tell(freeze_wanted{group_id{{1}}});
  auto said = x.facts().cell;
  CHECK(said.contributors == 3);
  CHECK(said.apart == 2);
  CHECK(said.samples_per_second >= 30);
  CHECK(said.upload_bytes_per_second == 100);
  CHECK(said.download_bytes_per_second == 1000);
  CHECK_FALSE(cell->last<groups_redrawn>().yes);
}
