#include "tools/lab/judge/run_record.hpp"

#include <doctest/doctest.h>

#include "tests/lab/judge/events.hpp"

#include <algorithm>
#include <map>

using namespace potluck;
using namespace potluck::tools;
using how = life_record::how;

namespace {

logged_event named(const std::string& name,
                   const std::map<std::string, std::string>& texts,
                   const std::map<std::string, double>& numbers = {}) {
  logged_event x;
  x.name = name;
  for (const auto& [field, value] : texts)
    set(x, field, value);
  for (const auto& [field, value] : numbers)
    set(x, field, value);
  return x;
}

logged_event step(std::uint64_t number, const std::string& digest,
                  double samples = 64) {
  auto n = static_cast<double>(number);
  return named("step", {{"digest", digest}},
               {{"step", n},
                {"samples", samples},
                {"history_samples", 64 * n},
                {"loss", 2.0}});
}

life_record trainer(const std::string& name,
                    const std::vector<std::string>& digests) {
  life_record x;
  x.name = name;
  x.role = "trainer";
  x.peak_bytes = 1000;
  x.events.push_back(named("listening", {{"peer", name}}));
  std::uint64_t number = 0;
  for (const auto& digest : digests)
    x.events.push_back(step(++number, digest));
  x.events.push_back(named("finished", {{"digest", digests.back()}},
                           {{"step", static_cast<double>(number)}}));
  return x;
}

run_record good() {
  run_record x;
  x.run.steps = 3;
  x.run.target_batch = 64;
  x.run.may_give_up = true;
  x.longest_pause = 0;
  x.lives
      = {trainer("a", {"d1", "d2", "d3"}), trainer("b", {"d1", "d2", "d3"})};
  return x;
}

/// Sentences of the promises that were not kept.
std::vector<std::string> broken(const run_record& x) {
  std::vector<std::string> result;
  for (const auto& finding : judge(x))
    if (!finding.problem.empty())
      result.push_back(finding.demand + ": " + finding.problem);
  return result;
}

/// Exactly one is broken, and its text has this.
bool only(const run_record& x, const std::string& text) {
  auto all = broken(x);
  for (const auto& line : all)
    INFO(line);
  return all.size() == 1 && all[0].find(text) != std::string::npos;
}

} // namespace

TEST_CASE("redrawn groups may differ from each other, but not within a round") {
  auto member = [](const std::string& name, const std::string& averaged) {
    auto x = trainer(name, {"state of " + name, "d2 of " + name, "d3"});
    for (auto& e : x.events)
      if (e.name == "step") {
        set(e, "samples", 16);
        set(e, "averaged", averaged + e.text("digest"));
      }
    auto& first = x.events[1];
    set(first, "averaged", averaged);
    x.events.insert(x.events.begin() + 1,
                    named("round", {{"group", "g"}, {"outcome", "committed"}},
                          {{"step", 1.0}}));
    set(x.events.back(), "digest", "last of " + name);
    return x;
  };
  run_record x;
  x.run.steps = 3;
  x.run.target_batch = 64;
  x.run.may_give_up = true;
  x.lives = {member("a", "mean"), member("b", "mean")};
  CHECK_FALSE(broken(x).empty());
  x.run.redraws = true;
  CHECK(broken(x).empty());
  x.lives[1] = member("b", "other");
  CHECK(only(x, "after the same round"));
  x.lives.pop_back();
  CHECK(only(x, "nothing to compare"));
}

TEST_CASE("a run that kept all promises has no problem") {
  CHECK(broken(good()).empty());
  CHECK(judge(good()).size() >= 9);
}

TEST_CASE("two digests of one step are a problem") {
  auto x = good();
  x.lives[1] = trainer("b", {"d1", "other", "d3"});
  CHECK(only(x, "at step 2 a had d2 and b other"));
}

TEST_CASE("steps that were given up for a longer history are set aside") {
  auto x = good();
  auto& b = x.lives[1];
  b = trainer("b", {"d1", "mine", "d3"});
  // Between its second step and its third.
  auto island = named("island", {{"donor", "a"}}, {{"step", 2}});
  b.events.insert(b.events.begin() + 3, island);
  CHECK(broken(x).empty());
  // What came before the step that both share was not given up.
  b = trainer("b", {"bad", "d2", "d3"});
  b.events.insert(b.events.begin() + 3, island);
  CHECK(only(x, "at step 1"));
  // Nor was what came behind.
  b = trainer("b", {"d1", "d2", "bad"});
  b.events.insert(b.events.begin() + 3, island);
  CHECK(broken(x).size() == 2); // The last digest, too.
}

TEST_CASE("steps given up by one after the other are set aside for both") {
  auto x = good();
  // b and c had the same; c gave it up for a's, then b for c's.
  x.lives[1] = trainer("b", {"d1", "mine", "d3"});
  x.lives.push_back(trainer("c", {"d1", "mine", "d3"}));
  auto give_up = [&](std::size_t who, const char* donor) {
    auto& events = x.lives[who].events;
    events.insert(events.begin() + 3,
                  named("island", {{"donor", donor}}, {{"step", 2}}));
  };
  give_up(1, "c");
  CHECK(only(x, "at step 2"));
  give_up(2, "a");
  CHECK(broken(x).empty());
}

TEST_CASE(
    "a step taken alone may be replaced by a download, a common one not") {
  auto x = good();
  auto& b = x.lives[1];
  b = trainer("b", {"d1", "mine", "d3"});
  b.events.insert(b.events.begin() + 3,
                  named("state_download", {{"donor", "a"}}, {{"step", 2}}));
  set(b.events[2], "peers", 2);
  CHECK(only(x, "at step 2"));
  set(b.events[2], "peers", 1);
  CHECK(broken(x).empty());
}

TEST_CASE("a side of a partition that died is excused, a lone bug is not") {
  auto x = good();
  x.lives.push_back(trainer("c", {"d1", "island"}));
  x.lives.back().end = how::killed;
  CHECK(only(x, "at step 2"));
  x.run.may_part = true;
  CHECK(broken(x).empty());
}

TEST_CASE("a log with gaps cannot convict") {
  auto x = good();
  x.lives.push_back(trainer("c", {"d1", "mine", "d3"}));
  x.lives.back().log_has_gaps = true;
  CHECK(broken(x).empty());
}

TEST_CASE("nothing to compare is a problem, not a pass") {
  auto x = good();
  x.lives.pop_back();
  CHECK(only(x, "nothing to compare"));
}

TEST_CASE("whoever is there must finish, with one digest at the last step") {
  auto x = good();
  x.lives[0].events.pop_back();
  CHECK(only(x, "a did not finish"));
  x.lives[0].end = how::killed;
  CHECK(broken(x).empty());
  x = good();
  set(x.lives[0].events.back(), "digest", "other");
  CHECK(broken(x).size() == 2); // At that step, too.
  x = good();
  x.run.steps = 4;
  CHECK(only(x, "finished at step 3"));
  x = good();
  for (auto& life : x.lives)
    life.end = how::left;
  CHECK(only(x, "nobody was there to finish"));
  x.run.expects.finishes = false;
  CHECK(broken(x).empty());
}

TEST_CASE("a step below the target batch, or one counted twice, is a problem") {
  auto x = good();
  x.lives[0].events[2] = step(2, "d2", 63);
  set(x.lives[0].events[2], "history_samples", 127.0);
  set(x.lives[0].events[3], "history_samples", 191.0);
  CHECK(only(x, "a, step 2: only 63"));
  x = good();
  x.lives[0].events.insert(x.lives[0].events.begin() + 2, step(1, "d1"));
  CHECK(only(x, "a, step 1 follows step 1"));
  // After a download it may go back.
  x.lives[0].events.insert(x.lives[0].events.begin() + 2,
                           named("state_download", {}, {{"step", 0}}));
  CHECK(broken(x).empty());
}

TEST_CASE("a pause beyond the bound, a refusal and much memory are problems") {
  auto x = good();
  x.run.expects.recovers_within = std::chrono::seconds{10};
  x.longest_pause = 11;
  CHECK(only(x, "11 s"));
  x = good();
  x.lives[0].events.push_back(named(
      "fault", {{"peer", "b"}, {"what", "bad data"}, {"detail", "a NaN"}}));
  CHECK(only(x, "bad data"));
  x = good();
  x.lives[0].events.push_back(
      named("fault", {{"what", "refused us"},
                      {"detail", "This is the same identity (b) as"}}));
  CHECK(broken(x).empty());
  x = good();
  x.lives[1].peak_bytes = most_memory + 1;
  CHECK(only(x, "b held"));
}

TEST_CASE("what a scenario expects besides is judged only when it does") {
  auto x = good();
  auto round = [&](const char* group, const char* outcome, double number) {
    x.lives[0].events.push_back(named(
        "round", {{"group", group}, {"outcome", outcome}}, {{"step", number}}));
  };
  round("a", "aborted", 1);
  round("b", "committed", 1);
  round("c", "committed", 2);
  CHECK(broken(x).empty());
  x.run.expects.first_try = 0.6;
  CHECK(only(x, "50 %"));
  x.run.expects.first_try = 0.5;
  x.run.expects.final_loss = 2.0;
  CHECK(broken(x).empty());
  x.run.expects.final_loss = 1.9;
  CHECK(only(x, "the loss is 2"));
}

TEST_CASE("a process that ended badly, or was left behind, is a problem") {
  auto x = good();
  x.lives[0].trouble = "exited with status 1";
  CHECK(only(x, "a exited with status 1"));
  x.trouble = "no step was taken for 1 min";
  CHECK(only(x, "no step was taken"));
  x = good();
  x.left_behind = {"somewhere/x.partial"};
  CHECK(only(x, "x.partial"));
}
