/// The step machine of a run that its organiser amends.
#include <doctest/doctest.h>

#include "tests/runtime/step/driven_machine.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

run_settings of_the_run() {
  run_settings run;
  run.run = "poems";
  run.steps = 10;
  run.warmup_steps = 2;
  run.target_batch = 32;
  return run;
}

amendment word(std::uint64_t number, run_change change,
               std::uint64_t from = 0) {
  amendment x;
  x.number = number;
  x.from = from;
  x.change = std::move(change);
  return x;
}

terms_known terms(std::vector<amendment> all) {
  return {std::make_shared<run_terms>(of_the_run(), std::move(all))};
}

group_id seven() {
  group_id x;
  x.bytes[0] = 7;
  return x;
}

struct machine : driven_machine {
  explicit machine(potluck::role role = potluck::role::trainer)
      : driven_machine(settings(role)) {
  }
  static step_settings settings(potluck::role role) {
    step_settings x;
    x.self = peer(5);
    x.role = role;
    x.agreed = charter{of_the_run(), ""};
    return x;
  }
};

} // namespace

TEST_CASE("the run ends at the step that the organiser names") {
  machine m;
  m.hold(4);
  CHECK(m.it.in() == stage::accumulating);
  m.tell(terms({word(1, new_steps{6}, 6)}));
  CHECK(m.it.in() == stage::accumulating);
  m.hold(5, true);
  CHECK(m.it.in() == stage::accumulating);
  m.hold(6, true);
  CHECK(m.it.in() == stage::finished);
}

TEST_CASE("who hears too late that the run is finished ends at once") {
  machine m;
  m.hold(4);
  m.tell(terms({word(1, finish_run{}, 3)}));
  CHECK(m.it.in() == stage::finished);
  m.now += 1min;
  m.tell(time_passed{});
  REQUIRE(m.last<peer_over>());
  CHECK(m.last<peer_over>()->problem.empty());
}

TEST_CASE("a run goes on where the organiser wants more steps of it") {
  machine m;
  m.hold(10);
  CHECK(m.it.in() == stage::finished);
  m.tell(terms({word(1, new_steps{20}, 8)}));
  CHECK(m.it.in() == stage::accumulating);
}

TEST_CASE("compute hears the organiser's word before it has to go by it") {
  machine m;
  m.hold(4);
  const auto before = m.asked.size();
  m.tell(terms({word(1, new_steps{6}, 6)}));
  bool told = false;
  for (auto i = before; i < m.asked.size(); ++i)
    told = told || std::holds_alternative<terms_known>(m.asked[i]);
  CHECK(told);
}

TEST_CASE("a group that was told something is not told something else") {
  machine m;
  m.hold(4);
  m.compute_all();
  REQUIRE(m.it.in() == stage::frozen); // It leads.
  const auto known = m.count<terms_known>();
  m.tell(terms({word(1, new_rate_tail{2}, 5)}));
  CHECK(m.count<terms_known>() == known);
  m.tell(freeze_wanted{seven()});
  m.tell(group_dissolved{seven(), "nobody came"});
  CHECK(m.it.in() != stage::averaging);
  CHECK(m.count<terms_known>() == known + 1);
}

TEST_CASE("peers that would make a step differently are in two groups") {
  machine a;
  machine b;
  a.hold(4);
  b.hold(4);
  CHECK(a.last<matchmaking_facts>()->state
        == b.last<matchmaking_facts>()->state);
  a.tell(terms({word(1, new_rate_tail{2}, 6)}));
  CHECK(a.last<matchmaking_facts>()->state
        == b.last<matchmaking_facts>()->state);
  a.hold(5, true);
  b.hold(5, true);
  CHECK(a.last<matchmaking_facts>()->state
        != b.last<matchmaking_facts>()->state);
  CHECK(a.last<own_report>()->report.state
        == b.last<own_report>()->report.state);
  b.tell(terms({word(1, new_rate_tail{2}, 6)}));
  CHECK(a.last<matchmaking_facts>()->state
        == b.last<matchmaking_facts>()->state);
}

TEST_CASE("while the run is paused nothing is computed and nobody is led") {
  machine m;
  m.hold(4);
  m.tell(terms({word(1, pause_run{}, 5)}));
  m.compute_all();
  CHECK(m.it.in() == stage::accumulating);
  CHECK(m.count<lead_group>() == 0);
  CHECK_FALSE(m.last<matchmaking_facts>()->open);
  m.now += 1min;
  m.tell(time_passed{});
  CHECK(m.last<run_status>()->trouble.find("paused") != std::string::npos);
  const auto batches = m.count<compute_batch>();
  m.tell(freeze_wanted{seven()}); // An invitation that crossed it.
  CHECK(m.it.in() == stage::accumulating);
  m.tell(terms({word(1, pause_run{}, 5), word(2, resume_run{})}));
  m.compute_all();
  CHECK(m.count<compute_batch>() + m.count<lead_group>() > batches);
  CHECK(m.count<lead_group>() == 1);
}

TEST_CASE("a pause begins at the step that is named") {
  machine m;
  m.hold(4);
  m.tell(terms({word(1, pause_run{}, 6)}));
  m.compute_all();
  CHECK(m.count<lead_group>() == 1);
  m.hold(5, true);
  m.compute_all();
  CHECK(m.count<lead_group>() == 1);
}

TEST_CASE("a run that is rolled back goes on from the state of then") {
  machine m;
  peer_joined partner;
  partner.who.id = peer(1);
  m.tell(partner);
  m.hold(8);
  const auto charter = m.last<own_report>()->report.charter;
  auto other = report(1, 0, 8);
  other.charter = charter;
  other.history_samples = 32 * 8;
  other.state = state(9);
  m.tell(report_heard{other, true});
  const auto word_of_it = terms({word(1, roll_back{4, state(5)})});
  m.tell(word_of_it);
  REQUIRE(m.it.in() == stage::fetching);
  REQUIRE(m.last<go_back>());
  CHECK(m.last<go_back>()->to.step == 4);
  CHECK(m.last<go_back>()->to.state == state(5));
  CHECK(m.last<own_report>()->report.charter != charter);
  m.hold(4);
  m.tell(state_fetched{});
  CHECK(m.it.in() == stage::accumulating);
  // The other one has not heard of it: its longer history is none.
  other.samples = 1;
  m.tell(report_heard{other, true});
  CHECK(m.count<fetch_state>() == 0);
  // From then on it counts again.
  other.charter = m.last<own_report>()->report.charter;
  other.history_samples = 1000;
  m.tell(report_heard{other, true});
  CHECK(m.count<fetch_state>() == 1);
  // Nobody goes back twice.
  m.tell(word_of_it);
  CHECK(m.count<go_back>() == 1);
}

TEST_CASE("who has not kept the state makes no step before it is here") {
  machine m;
  m.hold(8);
  m.tell(terms({word(1, roll_back{4, state(5)})}));
  m.hold(0);
  m.tell(state_fetched{});
  m.compute_all();
  CHECK(m.it.in() == stage::accumulating);
  CHECK(m.count<lead_group>() == 0);
  CHECK_FALSE(m.last<matchmaking_facts>()->open);
  m.now += 1s;
  m.tell(time_passed{});
  CHECK(m.last<run_status>()->trouble.find("step 4") != std::string::npos);
  // Nor from another state of that step.
  m.hold(4, state(77));
  m.compute_all();
  CHECK(m.count<lead_group>() == 0);
}

TEST_CASE("who begins anew goes with those that hold the state of a roll-back, "
          "not with others that wait") {
  machine m;
  for (std::uint8_t number : {1, 2}) {
    peer_joined partner;
    partner.who.id = peer(number);
    m.tell(partner);
  }
  m.hold(8);
  m.tell(terms({word(1, roll_back{4, state(5)})}));
  m.hold(0);
  m.tell(state_fetched{});
  auto other = report(1, 0, 0);
  other.charter = m.last<own_report>()->report.charter;
  other.state = state(30);
  m.tell(report_heard{other, true});
  CHECK(m.count<fetch_state>() == 0);
  auto holder = report(2, 0, 6);
  holder.charter = other.charter;
  holder.history_samples = 32 * 6;
  holder.state = state(7);
  m.now += 1s;
  m.tell(report_heard{holder, true});
  m.tell(time_passed{});
  CHECK(m.count<fetch_state>() == 1);
}

TEST_CASE("who is not that far yet has nothing to go back from") {
  machine m;
  m.hold(2);
  m.tell(terms({word(1, roll_back{4, state(5)})}));
  CHECK(m.it.in() == stage::accumulating);
  CHECK(m.count<go_back>() == 0);
}

TEST_CASE("who hears in a group that the run is finished ends behind it") {
  machine m;
  m.hold(4);
  m.compute_all();
  REQUIRE(m.it.in() == stage::frozen);
  m.tell(freeze_wanted{seven()});
  m.tell(terms({word(1, finish_run{}, 4)}));
  CHECK(m.it.in() == stage::frozen);
  m.tell(group_dissolved{seven(), "nobody came"});
  CHECK(m.it.in() == stage::finished);
}
