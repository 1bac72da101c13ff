#include "tools/lab/judge/demo_plot.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/lab/judge/events.hpp"

using namespace potluck;
using namespace potluck::tools;

namespace {

constexpr std::uint64_t steps = 9;

logged_event happened(const std::string& name, std::uint64_t step = 0,
                      const std::string& digest = "") {
  logged_event x;
  x.name = name;
  set(x, "step", static_cast<double>(step));
  set(x, "digest", digest);
  return x;
}

std::string digest_at(std::uint64_t step) {
  return "digest-" + std::to_string(step);
}

logged_event step_taken(std::uint64_t step) {
  auto x = happened("step", step, digest_at(step));
  set(x, "loss", 8 - 0.5 * static_cast<double>(step));
  set(x, "share", 0.5);
  set(x, "samples", 64.0);
  set(x, "history_samples", 64.0 * static_cast<double>(step));
  return x;
}

logged_event departure_of(const std::string& peer) {
  auto x = happened("departure");
  set(x, "peer", peer);
  return x;
}

/// A peer that takes the steps from `first` to `last`.
life_record trainer(const std::string& name, std::uint64_t first,
                    std::uint64_t last) {
  life_record peer;
  peer.name = name;
  peer.role = "trainer";
  auto listening = happened("listening");
  set(listening, "peer", "id-of-" + name);
  peer.events.push_back(listening);
  for (auto i = first; i <= last; ++i)
    peer.events.push_back(step_taken(i));
  if (last == steps) {
    peer.events.push_back(happened("finished", last, digest_at(last)));
    peer.checkpoint = saved_state{last, digest_at(last)};
  }
  return peer;
}

life_record& peer(run_record& record, const std::string& name) {
  auto i = std::find_if(record.lives.begin(), record.lives.end(),
                        [&](const auto& x) { return x.name == name; });
  REQUIRE(i != record.lives.end());
  return *i;
}

/// The peer's first such event.
logged_event& the(run_record& record, const std::string& name,
                  const std::string& what, std::uint64_t step = 0) {
  for (auto& x : peer(record, name).events)
    if (x.name == what && (step == 0 || x.count("step") == step))
      return x;
  FAIL("no such event");
  return record.lives.front().events.front();
}

void remove(run_record& record, const std::string& name,
            const std::string& what) {
  auto& events = peer(record, name).events;
  events.erase(std::remove_if(events.begin(), events.end(),
                              [&](const auto& x) { return x.name == what; }),
               events.end());
}

/// All as it should be.
run_record good() {
  run_record record;
  record.run.steps = steps;
  record.run.target_batch = 64;
  auto witness = trainer("peer-1", 1, steps);
  witness.events.insert(witness.events.begin() + 4,
                        departure_of("id-of-peer-2"));
  auto victim = trainer("peer-2", 1, 3);
  victim.end = life_record::how::killed;
  auto helper = trainer("auxiliary", 1, 0);
  helper.role = "auxiliary";
  helper.events.push_back(happened("round", 1));
  set(helper.events.back(), "outcome", "committed");
  auto late = trainer("peer-3", 6, steps);
  late.late = true;
  late.events.insert(late.events.begin() + 1,
                     happened("state_download", 5, digest_at(5)));
  record.lives = {witness, victim, helper, late};
  return record;
}

bool says(const std::vector<std::string>& lines, const std::string& words) {
  return std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
    return line.find(words) != std::string::npos;
  });
}

std::vector<finding> all_of(const run_record& record) {
  auto result = judge(record);
  for (auto& x : judge_plot(record))
    result.push_back(std::move(x));
  return result;
}

std::vector<std::string> problems_of(const run_record& record) {
  std::vector<std::string> result;
  for (const auto& x : all_of(record))
    if (!x.problem.empty())
      result.push_back(x.problem);
  return result;
}

bool passes(const run_record& record) {
  return problems_of(record).empty();
}

/// The record is refused, for this reason among others.
void check_fails(const run_record& record, const std::string& reason) {
  auto problems = problems_of(record);
  CAPTURE(problems);
  CHECK(says(problems, reason));
}

} // namespace

TEST_CASE("a demonstration that showed everything passes, with its facts") {
  auto problems = problems_of(good());
  CAPTURE(problems);
  CHECK(problems.empty());
  std::vector<std::string> facts;
  for (const auto& x : all_of(good()))
    facts.push_back(x.demand + ": " + x.seen);
  CAPTURE(facts);
  CHECK(says(facts, "finish step 9"));
  CHECK(says(facts, "loss 7.5 at the first step and 3.5 at the last"));
  CHECK(says(facts, "ends as it should: 4 processes"));
  CHECK(says(facts, "one kill: peer-2 after step 3; 1 other noticed"));
  CHECK(says(facts, "one late join: peer-3 downloaded step 5 and took part "
                    "from step 6"));
  CHECK(says(facts, "one auxiliary: auxiliary averaged in 1 round"));
  CHECK(says(facts, "report one step have one digest"));
}

TEST_CASE("nothing at all does not pass") {
  CHECK_FALSE(passes({}));
  run_record empty;
  empty.run.steps = steps;
  CHECK_FALSE(passes(empty));
}

TEST_CASE("digests that differ at one step fail it, whoever logged them") {
  for (auto name : {"peer-1", "peer-2"}) {
    auto record = good();
    set(the(record, name, "step", 2), "digest", "another");
    check_fails(record, "step 2: peer-");
  }
  auto record = good();
  set(the(record, "peer-3", "state_download"), "digest", "another");
  check_fails(record, "step 5: peer-");
  record = good();
  set(the(record, "peer-3", "finished"), "digest", "another");
  check_fails(record, "step 9: peer-");
}

TEST_CASE("steps that were logged without digests fail it") {
  auto record = good();
  for (auto name : {"peer-1", "peer-2"})
    drop(the(record, name, "step", 2), "digest");
  check_fails(record, "no digest at step 2");
}

TEST_CASE("a checkpoint must be there and hold the final state") {
  auto record = good();
  peer(record, "peer-3").checkpoint->digest = "another";
  check_fails(record, "the checkpoint of peer-3");
  record = good();
  peer(record, "peer-1").checkpoint->step = steps - 1;
  check_fails(record, "peer-1 saved no checkpoint");
  record = good();
  peer(record, "peer-1").checkpoint.reset();
  check_fails(record, "peer-1 saved no checkpoint");
}

TEST_CASE("steps that one peer alone saw prove nothing") {
  auto record = good();
  remove(record, "peer-2", "step");
  the(record, "peer-3", "step", 6).name = "other";
  the(record, "peer-3", "step", 7).name = "other";
  check_fails(record, "too few steps");
}

TEST_CASE("the loss must fall by a quarter") {
  auto record = good();
  for (auto name : {"peer-1", "peer-3"})
    set(the(record, name, "step", steps), "loss", 7.5 * 0.76);
  check_fails(record, "the loss fell by 24 %");
  for (auto name : {"peer-1", "peer-3"})
    set(the(record, name, "step", steps), "loss", 7.5 * 0.74);
  CHECK(passes(record));
}

TEST_CASE("a step without a loss, or that nobody took, fails it") {
  auto record = good();
  drop(the(record, "peer-1", "step", 4), "loss");
  check_fails(record, "the loss is known at 8 steps of 9");
  record = good();
  the(record, "peer-1", "step", 4).name = "other";
  check_fails(record, "the loss is known at 8 steps of 9");
}

TEST_CASE("the kill must have happened, been noticed, and been survived") {
  auto record = good();
  peer(record, "peer-2").end = life_record::how::by_itself;
  check_fails(record, "0 kills instead of one");
  check_fails(record, "peer-2 did not finish");
  record = good();
  remove(record, "peer-1", "departure");
  check_fails(record, "nobody noticed that peer-2");
  record = good();
  remove(record, "peer-1", "departure");
  auto& events = peer(record, "peer-1").events;
  events.push_back(departure_of("id-of-peer-2"));
  check_fails(record, "no step was taken after peer-2");
  record = good();
  remove(record, "peer-2", "step");
  check_fails(record, "peer-2 was killed before its first step");
}

TEST_CASE("the late trainer must come, load the state, then take part") {
  auto record = good();
  peer(record, "peer-3").late = false;
  check_fails(record, "0 late joins instead of one");
  record = good();
  remove(record, "peer-3", "state_download");
  check_fails(record, "peer-3 did not catch up");
  record = good();
  remove(record, "peer-3", "step");
  check_fails(record, "peer-3 did not catch up");
  record = good();
  auto& events = peer(record, "peer-3").events;
  std::rotate(events.begin() + 1, events.begin() + 2, events.begin() + 4);
  check_fails(record, "peer-3 trained before");
  record = good();
  the(record, "peer-1", "step", 5).name = "other";
  check_fails(record, "nobody else had the state");
  record = good();
  for (std::uint64_t i = 6; i <= steps; ++i)
    set(the(record, "peer-3", "step", i), "share", 0);
  check_fails(record, "peer-3 contributed to no step");
}

TEST_CASE("the auxiliary must have averaged") {
  auto record = good();
  set(the(record, "auxiliary", "round"), "outcome", "aborted");
  check_fails(record, "averaged nothing");
  record.lives.erase(record.lives.begin() + 2);
  check_fails(record, "0 auxiliary peers instead of one");
}

TEST_CASE("a process that ends badly fails it") {
  for (auto name : {"peer-1", "auxiliary"}) {
    auto record = good();
    peer(record, name).trouble = "exited with status 3";
    check_fails(record, std::string{name} + " exited with status 3");
  }
}

TEST_CASE("losses come by step, each once") {
  auto losses = losses_of(good());
  REQUIRE(losses.size() == steps);
  for (std::size_t i = 0; i < losses.size(); ++i)
    CHECK(losses[i].x == static_cast<double>(i + 1));
}
