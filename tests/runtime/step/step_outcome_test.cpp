#include "runtime/step/step_outcome.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/step/step_peers.hpp"
#include "tests/runtime/step/told_actions.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

step_settings settings(role what = role::trainer) {
  run_settings run;
  run.steps = 4;
  run.target_batch = 32;
  step_settings x;
  x.self = peer(5);
  x.role = what;
  x.agreed = charter{run, ""};
  x.writes_checkpoints = true;
  return x;
}

/// Peer 5 at the end of some step, with peer 6.
struct ending : step_outcome {
  explicit ending(const step_settings& how = settings())
      : step_outcome(how, start) {
    take();
  }
  using step_outcome::end_if_done;
  using step_outcome::ends_elsewhere;
  using step_outcome::give_up_if_too_late;
  using step_outcome::make_end;
  using step_outcome::note_round;
  using step_outcome::note_step;
  using step_outcome::on;
  using step_outcome::others;
  using step_outcome::set_time;
  using step_outcome::show_status;
  using step_outcome::take;

  state_changed at_step(std::uint64_t step) {
    state_changed x;
    x.step = step;
    x.history_samples = 32 * step;
    x.state = state(static_cast<std::uint8_t>(step));
    x.gradient_values = 10;
    x.applied = true;
    hold(x);
    return x;
  }
  void finish() {
    at_step(4);
    others().end().made_last_step(true, now());
    go(cause::state_shown);
    go(cause::last_state);
    make_end();
  }
  template <class Action>
  std::vector<Action> told() {
    return those_of<Action>(take());
  }
};

group_contract of_two(std::uint64_t step) {
  group_contract x;
  x.step = step;
  x.members.resize(2);
  x.members[0].who.id = peer(5);
  x.members[1].who.id = peer(6);
  for (auto& member : x.members)
    member.samples = 16;
  return x;
}

} // namespace

TEST_CASE("a peer is over once its last checkpoint is written") {
  ending x;
  x.finish();
  bool saves = false;
  for (auto& action : x.take())
    saves = saves || std::holds_alternative<save_checkpoint_now>(action);
  CHECK(saves);
  x.end_if_done();
  CHECK(x.told<peer_over>().empty());
  x.on(checkpoint_saved{4, "here", "no room"});
  const auto over = x.told<peer_over>();
  REQUIRE(over.size() == 1);
  CHECK(over[0].problem.find("no room") != std::string::npos);
}

TEST_CASE("who holds no model is over when all others are") {
  ending x{settings(role::auxiliary)};
  x.end_if_done();
  CHECK(x.told<peer_over>().empty());
  x.at_step(4);
  x.end_if_done();
  CHECK(x.told<peer_over>().size() == 1);
}

TEST_CASE("a round's laggards are named") {
  ending x;
  round_over over;
  over.contract = of_two(1);
  over.stalled = {peer(6)};
  x.note_round(over);
  const auto events = x.told<event>();
  REQUIRE(events.size() == 2);
  CHECK(events[1].name == "fault");
  CHECK(std::get<std::string>(events[1].fields[0].second)
        == short_name(peer(6)));
}

TEST_CASE("checkpoints are written every so many steps, but for the last") {
  auto how = settings();
  how.checkpoint_every = 2;
  ending x{how};
  std::vector<std::uint64_t> saved;
  for (std::uint64_t step = 1; step <= 4; ++step) {
    x.note_step(x.at_step(step), state(0));
    for (const auto& y : x.told<save_checkpoint_now>())
      saved.push_back(y.step);
  }
  CHECK(saved == std::vector<std::uint64_t>{2});
}

TEST_CASE("two that are left make no end of their own beside two that have") {
  ending x;
  x.at_step(3);
  x.others().averages(of_two(3));
  auto six = report(6, 0, 4);
  auto seven = report(7, 0, 4);
  for (auto* done : {&six, &seven})
    done->phase = phase::finished;
  x.others().end().heard(six);
  const auto partner = report(8);
  CHECK_FALSE(x.ends_elsewhere({partner}));
  x.others().end().heard(seven);
  CHECK(x.ends_elsewhere({partner}));
}

TEST_CASE("people see a line at most four times a second") {
  ending x;
  std::size_t lines = 0;
  for (auto now = start; now < start + 1s; now += 50ms) {
    x.set_time(now);
    x.show_status();
    lines += x.told<run_status>().size();
  }
  CHECK(lines == 4);
}
