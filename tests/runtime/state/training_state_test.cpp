#include "runtime/state/training_state.hpp"

#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <set>

#include "runtime/state/state_digests.hpp"
#include "tests/runtime/state/some_state.hpp"

using namespace potluck;

TEST_CASE("the initial state has the same bits on every machine") {
  auto state = initial_state(some_layout(), 1);
  CHECK(to_string(digest_of_state(state))
        == "4c75d24c2faa6b00748285a3c4582d01");
  CHECK(digest_of_state(initial_state(some_layout(), 1))
        == digest_of_state(state));
  CHECK(digest_of_state(initial_state(some_layout(), 2))
        != digest_of_state(state));
  REQUIRE(state.recent.size() == 1);
  CHECK(state.recent[0] == digest_of_state(state));
}

TEST_CASE("initial parameters follow the layout's mean and deviation") {
  model_layout layout;
  layout.add("noise", {100, 1000}, true, 0.5f, 0.02f);
  layout.add("ones", {10}, false, 1, 0);
  auto state = initial_state(layout, 3);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < 100000; ++i) {
    double x = (state.parameters[i] - 0.5) / 0.02;
    sum += x;
    squares += x * x;
    REQUIRE(std::abs(x) <= 6.01);
  }
  CHECK(std::abs(sum / 100000) < 0.02);
  CHECK(std::sqrt(squares / 100000) == doctest::Approx(1).epsilon(0.02));
  for (std::size_t i = 100000; i < 100010; ++i)
    CHECK(state.parameters[i] == 1);
  for (float x : state.first_moment)
    REQUIRE(x == 0);
}

TEST_CASE("the digest covers step, history and every vector") {
  auto state = some_state(10, 5);
  auto original = digest_of_state(state);
  auto changed = [&](auto change) {
    auto copy = state;
    change(copy);
    return digest_of_state(copy) != original;
  };
  CHECK(changed([](auto& x) { ++x.step; }));
  CHECK(changed([](auto& x) { ++x.history_samples; }));
  CHECK(changed([](auto& x) { x.parameters[9] += 1; }));
  CHECK(changed([](auto& x) { x.first_moment[0] += 1; }));
  CHECK(changed([](auto& x) { x.second_moment[4] += 1; }));
  CHECK(changed([](auto& x) { x.parameters.swap(x.first_moment); }));
  CHECK(!changed([](auto& x) { x.recent.clear(); }));
}

TEST_CASE("recent digests are bounded and the newest comes first") {
  auto state = some_state(4, 5);
  state.recent.clear();
  for (std::size_t i = 0; i < max_recent_digests + 10; ++i) {
    ++state.step;
    CHECK(remember_digest(state) == digest_of_state(state));
  }
  CHECK(state.recent.size() == max_recent_digests);
  CHECK(state.recent[0] == digest_of_state(state));
  CHECK(state.recent[0] != state.recent[1]);
  auto of = [](const std::vector<float>& x) {
    return digest_of(x.data(), x.size() * sizeof(float));
  };
  ++state.step;
  auto whole = digest_of_state(state);
  CHECK(remember_digest(state, {of(state.parameters), of(state.first_moment),
                                of(state.second_moment)})
        == whole);
  CHECK(state.recent[0] == whole);
}

TEST_CASE("a state has the moments that its optimizer keeps, and no more") {
  std::set<digest> seen;
  for (unsigned moments : {0u, 1u, 2u}) {
    CAPTURE(moments);
    const auto state = some_state(100, 8, moments);
    CHECK(state.moments() == moments);
    CHECK(state.first_moment.capacity() == (moments > 0 ? 100 : 0));
    CHECK(state.second_moment.capacity() == (moments > 1 ? 100 : 0));
    CHECK(state.recent == std::vector<digest>{digest_of_state(state)});
    CHECK(seen.insert(digest_of_state(state)).second);

    CHECK(state_bytes(state) == 64 + 400 * (1 + moments));
    const auto first = initial_state(some_layout(), 1, moments);
    CHECK(first.moments() == moments);
    CHECK(first.parameters == initial_state(some_layout(), 1).parameters);
  }
}

TEST_CASE("moments come as zeros, and go") {
  auto state = some_state(10, 8, 1);
  const auto first = state.first_moment;
  set_moments(state, 2);
  CHECK(state.first_moment == first);
  CHECK(state.second_moment == std::vector<float>(10));
  set_moments(state, 1);
  CHECK(digest_of_state(state) == digest_of_state(some_state(10, 8, 1)));
  auto unchanged = some_state(10, 8, 1);
  unchanged.recent.resize(3);
  set_moments(unchanged, 1);
  CHECK(unchanged.recent.size() == 3);
}
