#include "tools/potluck/amendment_words.hpp"

#include <string>
#include <variant>

#include <doctest/doctest.h>

using namespace potluck;
using namespace potluck::tools;

namespace {

/// What is wrong with the words; empty: nothing.
std::string problem_of(const std::vector<std::string>& words,
                       const std::string& state = "") {
  auto x = change_in(words, state);
  return x ? "" : x.error();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

run_terms terms_of(std::uint64_t steps) {
  run_settings settings;
  settings.steps = steps;
  return run_terms{settings, {}};
}

} // namespace

TEST_CASE("words become the change that they ask for") {
  auto end = change_in({"steps", "500"}, "");
  REQUIRE(end);
  REQUIRE(std::holds_alternative<new_steps>(*end));
  CHECK(std::get<new_steps>(*end).steps == 500);
  CHECK(std::holds_alternative<pause_run>(*change_in({"pause"}, "")));
  const std::string state(32, 'a');
  auto back = change_in({"rollback", "7"}, state);
  REQUIRE(back);
  CHECK(std::get<roll_back>(*back).step == 7);
  CHECK(to_string(std::get<roll_back>(*back).state) == state);
  CHECK(std::get<roll_back>(*change_in({"rollback", "7"}, "")).state.empty());
  auto lifted = change_in({"unban", std::string(64, '1')}, "");
  REQUIRE(lifted);
  CHECK(std::get<new_bans>(*lifted).lifted);
  CHECK(std::get<new_bans>(*lifted).who.size() == 1);
}

TEST_CASE("words that ask for nothing are answered with how to write it") {
  CHECK(contains(problem_of({"steps"}), "with one whole number"));
  CHECK(contains(problem_of({"steps", "many"}), "with one whole number"));
  CHECK(contains(problem_of({"ban"}), "Say whom"));
  CHECK(contains(problem_of({"ban", "bob"}), "no peer's id"));
  CHECK(contains(problem_of({"rollback", "7"}, "xyz"), "no state's digest"));
  CHECK(contains(problem_of({"admission", "some"}), "admission token"));
  CHECK(contains(problem_of({"pause", "now"}), "nothing that can be amended"));
  CHECK(contains(problem_of({"dance"}), "nothing that can be amended"));
}

TEST_CASE("a change holds from a step that all can have heard of") {
  const auto terms = terms_of(1000);
  const run_progress slow{100, 0.1, 3};
  const run_progress fast{100, 10, 3};
  const run_change pause = pause_run{};
  CHECK(*step_for(pause, 0, terms, slow) == 104);
  CHECK(*step_for(pause, 0, terms, fast) == 153);
  CHECK(*step_for(pause, 200, terms, fast) == 200);
  CHECK(contains(step_for(pause, 100, terms, slow).error(), "already"));
  CHECK(contains(step_for(pause, 1001, terms, slow).error(), "ends with"));
  CHECK(contains(step_for(pause, 0, terms, std::nullopt).error(), "--at STEP"));
}

TEST_CASE("a ban holds at once") {
  CHECK(*step_for(new_bans{}, 0, terms_of(10), std::nullopt) == 0);
}

TEST_CASE("a run's end moves away also when the run is over") {
  const auto terms = terms_of(10);
  CHECK(*step_for(new_steps{20}, 0, terms, std::nullopt) == 11);
  CHECK(*step_for(new_steps{20}, 0, terms, run_progress{10, 1, 2}) == 11);
  CHECK(contains(
      step_for(new_steps{6}, 0, terms_of(50), run_progress{5, 0.1, 2}).error(),
      "cannot end after step 6"));
}
