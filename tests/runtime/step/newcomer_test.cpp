/// Where a newcomer's history begins, and what its steps are signed with.
#include <doctest/doctest.h>

#include "runtime/history/signed_steps.hpp"
#include "tests/runtime/step/driven_machine.hpp"
#include "tools/lab/network/made_up_signatures.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

step_settings settings(bool awaits_roots, const std::string& name = "poems") {
  run_settings run;
  run.run = name;
  run.steps = 20;
  run.target_batch = 32;
  step_settings x;
  x.self = peer(5);
  x.agreed = charter{run, ""};
  x.signs = made_up(peer(5));
  x.awaits_roots = awaits_roots;
  return x;
}

struct newcomer : driven_machine {
  explicit newcomer(bool awaits_roots = true, const std::string& run = "poems")
      : driven_machine(settings(awaits_roots, run)),
        charter(settings(awaits_roots, run).agreed.digest()) {
  }
  /// It is connected, and reports that.
  void hears(progress_report x) {
    x.charter = charter;
    peer_joined joined;
    joined.who.id = x.id;
    tell(joined);
    tell(report_heard{x, true});
  }
  void hears_liars() {
    for (std::uint8_t i = 100; i < 105; ++i) {
      auto x = report(i, 0, 9);
      x.history_samples = 1'000'000'000;
      hears(x);
    }
  }
  /// Together with peer 6.
  void makes_step(std::uint64_t step) {
    hears(report(6, 16, step - 1));
    compute_all();
    group_formed formed;
    formed.contract.group.bytes[0] = 7;
    tell(freeze_wanted{formed.contract.group});
    for (auto number : {5, 6}) {
      struct group_member member;
      member.who.id = peer(static_cast<std::uint8_t>(number));
      member.samples = 16;
      formed.contract.members.push_back(member);
    }
    formed.contract.step = step;
    tell(formed);
    round_over over;
    over.contract = formed.contract;
    over.committed = true;
    over.samples = 32;
    over.mean = std::make_shared<std::vector<float>>(10);
    tell(over);
    hold(step, state(static_cast<std::uint8_t>(step)), true);
  }
  void waits(duration x) {
    now += x;
    tell(time_passed{});
  }
  bool open() const {
    return last<matchmaking_facts>()->open;
  }

  digest charter;
};

} // namespace

TEST_CASE("a newcomer follows nobody, and begins nothing, before it has heard "
          "by whom to go") {
  newcomer x;
  x.hold(0);
  x.hears_liars();
  x.compute_all();
  x.waits(1s);
  CHECK(x.count<fetch_state>() == 0);
  CHECK(x.count<lead_group>() == 0);
  CHECK_FALSE(x.open());
  // By those it goes then, and by nobody else.
  x.tell(roots_known{{{peer(1), 1}, {peer(2), 1}}});
  CHECK(x.count<fetch_state>() == 0);
  x.waits(10s);
  CHECK(x.count<lead_group>() == 0);
  CHECK_FALSE(x.open());
  x.hears(report(1, 0, 7));
  REQUIRE(x.count<fetch_state>() == 1);
  CHECK(x.last<fetch_state>()->goal.step == 7);
  CHECK(x.last<fetch_state>()->goal.donors == std::vector<peer_id>{peer(1)});
  x.hold(7, state(7));
  CHECK_FALSE(x.open()); // Not before the download is over.
  x.tell(state_fetched{});
  CHECK(x.open());
}

TEST_CASE("a newcomer whose friends have nothing to show is as any other") {
  newcomer x;
  x.hold(0);
  x.hears_liars();
  x.tell(roots_known{});
  CHECK(x.count<fetch_state>() == 1);
}

TEST_CASE("friends that are not there are waited for some seconds") {
  newcomer x;
  x.hold(0);
  x.compute_all();
  CHECK_FALSE(x.open());
  x.waits(limits::roots_patience);
  CHECK(x.count<lead_group>() == 1);
  CHECK(x.open());
}

TEST_CASE("those that are gone are waited for no longer than any others") {
  newcomer x;
  x.hold(0);
  x.compute_all();
  x.tell(roots_known{{{peer(1), 1}, {peer(2), 1}}});
  x.waits(limits::estrangement - 1s);
  CHECK(x.count<lead_group>() == 0);
  x.waits(1s);
  CHECK(x.count<lead_group>() == 1);
}

TEST_CASE("who has a history is not led by friends of its first day") {
  newcomer x;
  x.hold(3);
  x.compute_all();
  CHECK(x.count<lead_group>() == 1);
  x.tell(roots_known{{{peer(1), 1}, {peer(2), 1}}});
  CHECK(x.count<lead_group>() == 1);
}

TEST_CASE("more liars than members lead no peer of a created run, nor one that "
          "was invited, once it has made a step with others") {
  const std::string created = "poems@" + std::string(64, 'a');
  const auto follows = [](newcomer x, std::uint64_t from) {
    x.tell(roots_known{});
    x.hold(from, state(static_cast<std::uint8_t>(from)));
    x.makes_step(from + 1);
    x.waits(limits::beginning);
    x.hears_liars();
    x.waits(1s);
    return x.count<fetch_state>() > 0;
  };
  CHECK_FALSE(follows(newcomer{false, created}, 0));
  CHECK_FALSE(follows(newcomer{true}, 0));
  // In a trial, and after a restart, parts may have to find together.
  CHECK(follows(newcomer{false}, 0));
  CHECK(follows(newcomer{false, created}, 3));
}

TEST_CASE("a step is signed in the report, and kept with what others sign") {
  newcomer x{false};
  x.hold(2, state(2));
  x.makes_step(3);
  const auto& said = x.last<own_report>()->report;
  CHECK(said.step == 3);
  REQUIRE_FALSE(said.step_proof.empty());
  CHECK(x.count<step_signed>() == 0);
  signed_step step;
  step.charter = x.charter;
  step.step = 3;
  step.history_samples = 96;
  step.samples = 32;
  step.before = state(2);
  step.after = state(3);
  step.makers = {{peer(5), 16, {}}, {peer(6), 16, {}}};
  step.makers[0].by = said.step_proof;
  drop_forgeries(step, *made_up(peer(9)));
  CHECK_FALSE(step.makers[0].by.empty());
  auto theirs = report(6, 0, 3);
  theirs.step_proof = sign(step, *made_up(peer(6)));
  x.hears(theirs);
  REQUIRE(x.count<step_signed>() == 1);
  auto kept = x.last<step_signed>()->what;
  drop_forgeries(kept, *made_up(peer(9)));
  CHECK(most_have_signed(kept, weights_of(kept)));
  // Of a state that it did not make it says nothing.
  x.hold(4);
  CHECK(x.last<own_report>()->report.step_proof.empty());
}
