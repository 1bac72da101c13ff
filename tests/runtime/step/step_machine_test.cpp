#include <doctest/doctest.h>

#include "runtime/membership/limits.hpp"
#include "tests/runtime/step/driven_machine.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

struct machine : driven_machine {
  explicit machine(bool delayed = false) : driven_machine(settings(delayed)) {
  }
  static step_settings settings(bool delayed) {
    run_settings run;
    run.steps = 2;
    run.target_batch = 32;
    run.updates = delayed ? "delayed" : "synchronous";
    step_settings x;
    x.self = peer(5);
    x.agreed = charter{run, ""};
    return x;
  }
  /// @param partner In the group besides; 0: nobody.
  /// @param counted Of this peer's samples; 0: all.
  group_formed form(std::uint8_t partner = 0, std::uint64_t counted = 0) {
    group_formed x;
    x.contract.group.bytes[0] = 7;
    tell(freeze_wanted{x.contract.group});
    struct group_member self;
    self.who.id = peer(5);
    self.samples = counted > 0 ? counted : last<gradient_frozen>()->samples;
    x.contract.step = 1;
    x.contract.members = {self};
    if (partner != 0) {
      auto other = self;
      other.who.id = peer(partner);
      x.contract.members.push_back(other);
    }
    tell(x);
    return x;
  }
  round_over over(const group_formed& x, bool committed) {
    round_over result;
    result.contract = x.contract;
    result.committed = committed;
    result.samples = 32;
    if (committed)
      result.mean = std::make_shared<std::vector<float>>(10);
    return result;
  }
};

} // namespace

TEST_CASE("the stages of a step alone") {
  machine x;
  CHECK(x.it.in() == stage::starting);
  CHECK(x.count<compute_batch>() == 0);
  x.hold(0);
  CHECK(x.it.in() == stage::accumulating);
  x.compute_all();
  CHECK(x.it.in() == stage::frozen);
  CHECK(x.count<lead_group>() == 1);
  auto formed = x.form();
  CHECK(x.it.in() == stage::averaging);
  CHECK(x.count<begin_round>() == 1);
  REQUIRE(x.count<lend_gradient>() == 1);
  CHECK(x.last<lend_gradient>()->round == formed.contract.group);
  x.tell(x.over(formed, true));
  CHECK(x.it.in() == stage::applying);
  CHECK(x.last<apply_mean>()->step == 1);
  x.hold(1, true);
  CHECK(x.it.in() == stage::accumulating);
  CHECK(x.last<matchmaking_facts>()->step == 1);
}

TEST_CASE("a leader whose contract miscounts is passed over in this step") {
  machine x;
  x.hold(0);
  x.compute_all();
  REQUIRE(x.it.in() == stage::frozen);
  x.tell(group_dissolved{{}, "of peer 1 it counts 999 samples", peer(1)});
  CHECK(x.last<matchmaking_facts>()->leaders.is_passed_over(peer(1)));
  x.hold(1);
  CHECK_FALSE(x.last<matchmaking_facts>()->leaders.is_passed_over(peer(1)));
}

TEST_CASE("an aborted round keeps the samples") {
  machine x;
  x.hold(0);
  x.compute_all();
  auto formed = x.form();
  x.tell(x.over(formed, false));
  CHECK(x.it.in() == stage::accumulating);
  CHECK(x.count<apply_mean>() == 0);
  CHECK(x.form().contract.members[0].samples == 32);
}

TEST_CASE("a group that this machine does not know is not kept waiting") {
  machine x;
  x.hold(0);
  group_formed stranger;
  stranger.contract.group.bytes[0] = 3;
  x.tell(stranger);
  REQUIRE(x.count<member_withdrew>() == 1);
  CHECK(x.last<member_withdrew>()->group == stranger.contract.group);
  CHECK(x.it.in() == stage::accumulating);
}

TEST_CASE("where fewer samples count, the gradient is lent as one of so many") {
  machine x;
  x.hold(0);
  x.compute_all();
  x.form(6, 10);
  REQUIRE(x.count<lend_gradient>() == 1);
  CHECK(x.last<lend_gradient>()->samples == 10);
  CHECK(x.last<lend_gradient>()->computed
        == x.last<gradient_frozen>()->samples);
  CHECK(x.last<lend_gradient>()->computed > 10);
}

TEST_CASE("with delayed updates batches go on beside the round") {
  machine x{true};
  x.hold(0);
  x.compute_all();
  CHECK(x.count<set_gradient_aside>() == 1);
  auto formed = x.form();
  auto before = x.count<compute_batch>();
  CHECK(x.last<lend_gradient>()->aside);
  x.compute_all();
  CHECK(x.count<compute_batch>() > 0);
  x.tell(x.over(formed, true));
  CHECK(x.last<apply_mean>()->beside);
  x.hold(1, true);
  CHECK(x.last<drop_gradient>()->only_aside);
  CHECK(x.count<compute_batch>() >= before);
}

TEST_CASE("every look says when to look again") {
  machine x;
  x.tell(time_passed{});
  REQUIRE(x.last<look_later>());
  CHECK(x.last<look_later>()->after > 0s);
}

TEST_CASE("fifty strangers that say that they have finished end nothing") {
  for (bool connected : {false, true}) {
    CAPTURE(connected);
    machine x;
    x.hold(0);
    x.compute_all();
    auto formed = x.form(6);
    x.tell(x.over(formed, true));
    x.hold(1, true);
    for (std::uint8_t i = 100; i < 150; ++i) {
      auto said = report(i, 0, 2);
      said.charter = machine::settings(false).agreed.digest();
      said.history_samples = 0;
      said.phase = phase::finished;
      if (connected) {
        peer_joined joined;
        joined.who.id = said.id;
        x.tell(joined);
      }
      x.tell(report_heard{said, connected});
    }
    x.compute_all();
    CHECK(x.count<lead_group>() == 2); // The last step is made all the same.
    for (auto end = x.now + 10min; x.now < end; x.now += 1s)
      x.tell(time_passed{});
    CHECK(x.count<peer_over>() == 0);
  }
}

TEST_CASE("a trainer that holds up the run rests, says so, and computes again "
          "when a step takes too long") {
  machine x;
  x.hold(0);
  x.compute_all();
  group_formed formed;
  formed.contract.group.bytes[0] = 7;
  x.tell(freeze_wanted{formed.contract.group});
  auto& c = formed.contract;
  c.step = 1;
  c.gradient_values = 1000000;
  c.chunk_values = 1000;
  c.computing_ms = 1000;
  for (std::uint8_t i : {1, 2, 3, 5}) {
    potluck::group_member m;
    m.who.id = peer(i);
    m.samples = i == 5 ? x.last<gradient_frozen>()->samples : 100;
    m.upload_bytes_per_second = i == 5 ? 1e5 : 1e7;
    m.download_bytes_per_second = 1e7;
    c.members.push_back(m);
  }
  x.tell(formed);
  x.tell(x.over(formed, true));
  const auto asked = x.count<compute_batch>();
  x.hold(1, true);
  CHECK(x.it.in() == stage::accumulating);
  x.tell(time_passed{});
  CHECK(x.count<compute_batch>() == asked);
  CHECK(x.last<run_status>()->trouble
        == "resting: the run is faster without this machine's gradients");
  CHECK(x.last<run_status>()->phase == phase::waiting);
  auto told = [&] {
    std::vector<bool> result;
    for (auto& action : x.asked)
      if (auto news = std::get_if<event>(&action); news && news->name == "rest")
        result.push_back(std::get<bool>(news->fields.at(1).second));
    return result;
  };
  CHECK(told() == std::vector<bool>{true});
  x.now += 60s;
  x.tell(time_passed{});
  CHECK(x.count<compute_batch>() == asked + 1);
  CHECK(told() == std::vector<bool>{true, false});
}

TEST_CASE(
    "once hold-ups have used up their credit, newcomers are not counted") {
  for (auto held_up : {5s, 20s}) {
    machine x;
    x.hold(0);
    x.compute_all();
    auto formed = x.form(6);
    x.now += 60s;
    x.tell(x.over(formed, true));
    x.hold(1, true);
    // By somebody else.
    x.tell(
        members_doubted{{peer(8)}, "it is late", std::nullopt, true, held_up});
    for (std::uint8_t i : {6, 7}) {
      peer_joined joined;
      joined.who.id = peer(i);
      x.tell(joined);
      auto said = report(i, 1, 1);
      said.state = state(2);
      said.charter = machine::settings(false).agreed.digest();
      x.tell(report_heard{said, true});
    }
    x.compute_all();
    REQUIRE(x.count<lead_group>() == 2);
    std::vector<peer_id> invited;
    for (const auto& who : x.last<lead_group>()->invitees)
      invited.push_back(who.id);
    CHECK(invited
          == (held_up == 5s ? std::vector<peer_id>{peer(6), peer(7)}
                            : std::vector<peer_id>{peer(6)}));
  }
}
