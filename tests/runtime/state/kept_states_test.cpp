#include "runtime/state/kept_states.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/support/temporary_directory.hpp"

using namespace potluck;

namespace {

training_state state_of(std::uint64_t step, float value = 1) {
  training_state x;
  x.step = step;
  x.history_samples = 64 * step;
  x.parameters = {value, static_cast<float>(step)};
  x.first_moment = {0, 1};
  x.second_moment = {1, 0};
  remember_digest(x);
  return x;
}

charter some_run() {
  return {run_settings{}, ""};
}

} // namespace

TEST_CASE("the newest states are kept, and found by step and digest") {
  support::temporary_directory there;
  const kept_states kept{there / "poems.states", 3};
  for (std::uint64_t step = 10; step <= 50; step += 10)
    REQUIRE(kept.keep(some_run(), state_of(step)));
  for (std::uint64_t step : {30, 40, 50}) {
    auto found = kept.find(step, digest_of_state(state_of(step)));
    REQUIRE(found);
    CHECK(found->parameters == state_of(step).parameters);
    CHECK(found->history_samples == 64 * step);
  }
  for (std::uint64_t step : {10, 20, 60})
    CHECK_FALSE(kept.find(step, digest_of_state(state_of(step))));
}

TEST_CASE("another state than the one that is meant is not taken") {
  support::temporary_directory there;
  const kept_states kept{there / "poems.states", 3};
  REQUIRE(kept.keep(some_run(), state_of(10, 2)));
  CHECK_FALSE(kept.find(10, digest_of_state(state_of(10, 1))));
  // Nor one that lies under another's name.
  const auto name = [&](float value) {
    return there / "poems.states/10."
           + to_string(digest_of_state(state_of(10, value))) + ".checkpoint";
  };
  std::filesystem::rename(name(2), name(1));
  auto other = kept.find(10, digest_of_state(state_of(10, 1)));
  REQUIRE_FALSE(other);
  CHECK(other.error().find("not the state") != std::string::npos);
}

TEST_CASE("what is kept is known by its names") {
  support::temporary_directory there;
  const auto folder = there / "poems.states";
  const kept_states kept{folder, 3};
  CHECK(kept.all().empty());
  REQUIRE(kept.keep(some_run(), state_of(10, 2)));
  REQUIRE(kept.keep(some_run(), state_of(20)));
  std::ofstream{folder + "/30.checkpoint"} << "not one of ours";
  kept_list list;
  CHECK(list.at(10).empty());
  list.set(kept.all());
  CHECK(list.at(10) == digest_of_state(state_of(10, 2)));
  CHECK(list.at(20) == digest_of_state(state_of(20)));
  CHECK(list.at(30).empty());
  // Whichever it is.
  auto found = kept.find(10, {});
  REQUIRE(found);
  CHECK(found->parameters == state_of(10, 2).parameters);
  CHECK_FALSE(kept.find(30, {}));
}

TEST_CASE("states of a history that was given up go") {
  support::temporary_directory there;
  const auto folder = there / "poems.states";
  const kept_states kept{folder, 3};
  for (std::uint64_t step = 10; step <= 30; step += 10)
    REQUIRE(kept.keep(some_run(), state_of(step)));
  kept.give_up_after(20);
  CHECK(kept.find(20, digest_of_state(state_of(20))));
  REQUIRE(kept.keep(some_run(), state_of(20, 2)));
  CHECK_FALSE(kept.find(30, digest_of_state(state_of(30))));
  CHECK(kept.find(20, digest_of_state(state_of(20, 2))));
  CHECK(kept.find(10, digest_of_state(state_of(10))));
  CHECK(std::distance(std::filesystem::directory_iterator{folder}, {}) == 2);
}

TEST_CASE("what an earlier start kept stays until the run has got there") {
  support::temporary_directory there;
  const kept_states kept{there / "poems.states", 3};
  const auto keep = [&](std::initializer_list<std::uint64_t> steps) {
    for (auto step : steps)
      REQUIRE(kept.keep(some_run(), state_of(step)));
    std::vector<std::uint64_t> result;
    for (const auto& [step, state] : kept.all())
      result.push_back(step);
    return result;
  };
  using steps = std::vector<std::uint64_t>;
  keep({60, 70, 80, 90});
  CHECK(keep({10, 20, 30, 40}) == steps{20, 30, 40, 70, 80, 90});
  // Starts that begin anew do not pile up either.
  CHECK(keep({10}) == steps{10, 70, 80, 90});
  CHECK(keep({80}) == steps{10, 70, 80, 90});
  CHECK(keep({100}) == steps{80, 90, 100});
}
