/// The conductor where groups are drawn anew for every step
/// (runtime/ways/moshpit).
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "runtime/config.hpp"
#include "runtime/ways/moshpit/moshpit_groups.hpp"
#include "runtime/ways/moshpit/moshpit_vector.hpp"
#include "tests/actors/conductor_stage.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t group_size = 3;
constexpr std::uint8_t crowd = 9; ///< Of whom number 5 is the conductor's.

charter redrawn() {
  auto settings = tiny_charter(100, batch).settings();
  settings.averaging_method = "moshpit";
  settings.group_size = group_size;
  return {settings, ""};
}

struct redrawn_stage : conductor_stage {
  explicit redrawn_stage(charter about = redrawn())
      : conductor_stage(role::trainer, false, 0, std::move(about)) {
  }

  progress_report at(std::uint8_t number, std::uint64_t step,
                     std::uint64_t samples = 0) {
    auto r = report(number, step);
    r.state = nominal_state(agreed.digest(), step);
    r.samples = samples;
    return r;
  }
  /// Whom the conductor is drawn with for the step after `step`.
  std::set<peer_id> drawn(std::uint64_t step) const {
    std::vector<peer_id> all;
    for (std::uint8_t i = 1; i <= crowd; ++i)
      all.push_back(peer(i));
    auto group = moshpit_group_of(peer(5), all, group_size,
                                  agreed.settings().seed, step);
    return {group.begin(), group.end()};
  }
  /// A step whose group of three this peer leads.
  std::uint64_t led_step() const {
    for (std::uint64_t step = 1; step < 90; ++step)
      if (drawn(step).size() == group_size && *drawn(step).begin() == peer(5))
        return step;
    throw std::logic_error{"it never leads"};
  }
  static std::uint8_t number_of(const peer_id& id) {
    for (std::uint8_t i = 1; i <= crowd; ++i)
      if (peer(i) == id)
        return i;
    throw std::logic_error{"nobody"};
  }
  /// All are connected but `away`, whom the others have heard of.
  void gather_crowd(std::uint64_t step, std::uint8_t away = 0) {
    for (std::uint8_t i = 1; i <= crowd; ++i) {
      if (i == 5)
        continue;
      if (i == away) {
        tell(peer_left{peer(i), "cannot be reached", false});
        hear(at(i, step, batch), false);
        continue;
      }
      join(i);
      hear(at(i, step, batch));
    }
  }
};

} // namespace

TEST_CASE("all report one state at one step, and a history of whole batches") {
  redrawn_stage x;
  x.hold(7);
  auto told = x.roster->last<own_report>().report;
  CHECK(told.state == nominal_state(x.agreed.digest(), 7));
  CHECK(told.state != state_after(7));
  CHECK(told.history_samples == 7 * batch);
  CHECK(x.facts().state == told.state);
}

TEST_CASE(
    "a leader invites those that were drawn with it and are connected, and "
    "says whom it cannot reach") {
  redrawn_stage x;
  const auto step = x.led_step();
  const auto group = x.drawn(step);
  const auto away = redrawn_stage::number_of(*group.rbegin());
  x.hold(step);
  x.gather_crowd(step, away);
  // Who reaches all of the group would be a better leader, and gets a moment.
  CHECK(x.matchmaking->count<lead_group>() == 0);
  x.world.run_for(2s);
  REQUIRE(x.matchmaking->count<lead_group>() == 1);
  auto order = x.matchmaking->last<lead_group>();
  REQUIRE(order.invitees.size() == 1);
  CHECK(group.count(order.invitees[0].id) == 1);
  CHECK(order.invitees[0].id != peer(away));
  // Half of what the two are known to have.
  CHECK(order.least_samples >= batch / 2);
  CHECK(order.least_samples < batch);
  x.tell(freeze_wanted{group_id{{1}}});
  // A plan gives the two nothing to average, and then the group can be made.
  CHECK(x.facts().out_of_reach == std::set<peer_id>{peer(away)});
}

TEST_CASE("who reaches all of its group does not wait for one who does not") {
  redrawn_stage x;
  std::uint64_t step = 1;
  auto first = [&] { return redrawn_stage::number_of(*x.drawn(step).begin()); };
  while (x.drawn(step).size() != group_size || first() == 5
         || *++x.drawn(step).begin() != peer(5))
    REQUIRE(++step < 90);
  x.hold(step);
  x.gather_crowd(step);
  x.world.run_for(1s);
  CHECK(x.matchmaking->count<lead_group>() == 0); // A smaller one does.
  // In one of its groups it said that there was somebody out of its reach.
  group_formed formed;
  formed.contract.group = group_id{{1}};
  formed.contract.step = step + 1;
  x.tell(freeze_wanted{formed.contract.group});
  struct group_member known;
  known.who = contact_of(first());
  known.relayed = {peer(9)};
  formed.contract.members = {known};
  x.tell(formed);
  x.end_round(formed, false);
  x.world.run_for(200ms);
  CHECK(x.matchmaking->count<lead_group>() == 1);
}

TEST_CASE("who has nobody to lead leads nobody, though the batch is there") {
  redrawn_stage x;
  const auto step = x.led_step();
  const auto group = x.drawn(step);
  x.hold(step);
  for (std::uint8_t i = 1; i <= crowd; ++i) {
    if (i == 5)
      continue;
    x.join(i);
    auto r = x.at(i, step, batch);
    if (group.count(peer(i)))
      r.phase = phase::averaging; // With somebody else.
    x.hear(r);
  }
  x.world.run_for(1s);
  CHECK(x.matchmaking->count<lead_group>() == 0);
}

TEST_CASE("a group goes on with a step that others have made, until it is too "
          "late for it") {
  redrawn_stage x;
  const auto step = x.led_step();
  const auto group = x.drawn(step);
  x.hold(step);
  x.gather_crowd(step);
  for (std::uint8_t i = 1; i <= crowd; ++i)
    if (i != 5 && group.count(peer(i)) == 0)
      x.hear(x.at(i, step + 1));
  CHECK(x.matchmaking->count<lead_group>() == 1);
  CHECK(x.state_keeper->count<fetch_state>() == 0);
  // It comes to nothing; the others' reports go on.
  x.tell(group_dissolved{{}, "nobody came"});
  auto end = duration{0};
  for (; x.state_keeper->count<fetch_state>() == 0; end += 1s) {
    REQUIRE(end < limits::first_round_patience + 5s);
    for (std::uint8_t i = 1; i <= crowd; ++i)
      if (i != 5)
        x.hear(group.count(peer(i)) ? x.at(i, step, batch) : x.at(i, step + 1));
    if (x.matchmaking->count<lead_group>() > 1)
      x.tell(group_dissolved{{}, "nobody came"});
    x.world.run_for(1s);
  }
  CHECK(end >= limits::first_round_patience - 2s);
}

TEST_CASE("whose group has made the step without it takes all of one's state") {
  redrawn_stage x;
  const auto step = x.led_step();
  const auto group = x.drawn(step);
  x.hold(step);
  x.gather_crowd(step);
  for (auto& id : group)
    if (id != peer(5))
      x.hear(x.at(redrawn_stage::number_of(id), step + 1));
  x.tell(group_dissolved{{}, "they were gone"});
  REQUIRE(x.state_keeper->count<fetch_state>() == 1);
  auto goal = x.state_keeper->last<fetch_state>().goal;
  CHECK(goal.alone);
  CHECK(goal.state.empty());
  CHECK(goal.step == step + 1);
  CHECK(goal.own_state == state_after(step));
  REQUIRE(goal.donors.size() == 1);
  CHECK(group.count(goal.donors[0]) == 1);
}

TEST_CASE("the plan says what averaging was chosen, and why") {
  redrawn_stage x;
  x.hold(0);
  x.compute_all();
  auto formed = x.form(1);
  auto plans = x.observer->events("plan");
  REQUIRE(plans.size() == 1);
  CHECK(field<std::string>(plans[0], "averaging") == "one group");
  x.end_round(formed, false);
  x.gather_crowd(0);
  x.form(1);
  plans = x.observer->events("plan");
  REQUIRE(plans.size() == 2);
  CHECK(field<std::string>(plans[1], "averaging") == "moshpit");
  CHECK(field<std::string>(plans[1], "averaging_why").find("grid of 3x3")
        != std::string::npos);
  conductor_stage exact;
  exact.hold(0);
  exact.compute_all();
  exact.form(1);
  auto told = exact.observer->events("plan");
  REQUIRE(told.size() == 1);
  CHECK(field<std::string>(told[0], "averaging") == "one group");
  CHECK(field<std::string>(told[0], "averaging_why")
        == "1 trainers fit into a group of 64");
}
