/// What holds for every rule.
#include "runtime/optimizer/optimizer_kinds.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <stdexcept>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "runtime/optimizer/exact_loops.hpp"
#include "tests/runtime/optimizer/bench_of_vectors.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& kind : optimizer_kinds())
    all.push_back(kind.declared.name);
  return all;
}

} // namespace

TEST_CASE("any number of threads gives the same bits") {
  for (const auto& name : names()) {
    CAPTURE(name);
    auto expected = after(name, 5, 1).digest();
    CHECK(after(name, 5, 1).digest() == expected);
    for (unsigned threads : {2u, 3u, 8u, 100u})
      CHECK(after(name, 5, threads).digest() == expected);
    CHECK(after(name, 6, 1).digest() != expected);
  }
}

TEST_CASE("the bits are those of every other machine") {
  // Computed once; a difference means that peers would drift apart. Change one
  // only together with the rule's definition and the protocol's version.
  const std::map<std::string, std::string> expected{
      {"lamb", "4b5ded0b92992e95a03beaac79caa1b8"},
      {"dedloc-lamb", "b5a31bb2557886687b89342d14318ed8"},
      {"adam", "62e2721cc68da8a1d557316c665d4b93"},
      {"adamw", "1bfa8e8ebd8c6be464b8effb9be04efb"},
      {"sgd", "177b19cbdd49df9b2e7d7f3e9fe7cbcc"},
      {"lars", "66df987aca92e289f5724c109a070176"},
      {"larc", "fabdb82a1bb5ce93ef6ca2a244f1c570"},
      {"lion", "fac8448e31b80de4b6e8237aae0706c6"},
  };
  for (const auto& name : names()) {
    CAPTURE(name);
    REQUIRE(expected.count(name) == 1);
    CHECK(to_string(after(name, 5, 2).digest()) == expected.at(name));
  }
}

TEST_CASE("what a rule does not keep it does not touch") {
  for (const auto& name : names()) {
    CAPTURE(name);
    const auto kept = unwrap(make_rule(name))->moments();
    auto zero = [](const std::vector<float>& x) {
      return std::all_of(x.begin(), x.end(), [](float y) { return y == 0; });
    };
    const auto state = after(name, 2, 1);
    CHECK(zero(state.m) == (kept < 1));
    CHECK(zero(state.v) == (kept < 2));
  }
  CHECK(unwrap(make_rule("sgd", {{"momentum", "0"}}))->moments() == 0);
  CHECK(unwrap(make_rule("sgd"))->moments() == 1);
  CHECK(unwrap(make_rule("lion"))->moments() == 1);
  CHECK(unwrap(make_rule("adamw"))->moments() == 2);
}

#ifdef __SSE2__
TEST_CASE("the bits stay where the thread flushes denormals or rounds down") {
  const auto usual = _mm_getcsr();
  const auto odd = usual | 0x8040 | 0x2000;
  const auto layout = odd_layout();
  auto after_three = [&](const std::string& name, unsigned threads,
                         unsigned arithmetic) {
    vectors state(layout.values(), 7);
    auto rule = optimizer_of(name, layout, {1, threads, {}});
    for (std::uint64_t step = 1; step <= 3; ++step) {
      state.draw_gradient(step);
      for (auto& x : state.gradient)
        x *= 1e-17f; // Its square is a denormal.
      _mm_setcsr(arithmetic);
      rule.apply(state.all(), state.gradient.data(), step, 0.01);
      const auto left = _mm_getcsr();
      _mm_setcsr(usual);
      CHECK((left & 0xffc0) == (arithmetic & 0xffc0)); // But for exceptions.
    }
    return state;
  };
  for (const auto& name : names()) {
    CAPTURE(name);
    const auto expected = after_three(name, 1, usual);
    if (name == "lamb")
      CHECK(std::any_of(expected.v.begin(), expected.v.end(), [](float x) {
        return std::fpclassify(x) == FP_SUBNORMAL;
      }));
    for (unsigned threads : {1u, 3u})
      CHECK(after_three(name, threads, odd).digest() == expected.digest());
  }
}
#endif

TEST_CASE("a quadratic problem converges") {
  model_layout layout;
  layout.add("x", {1000}, true, 0, 0);
  std::vector<float> target(1000);
  random_stream chance(4);
  for (auto& value : target)
    value = static_cast<float>(chance.uniform01() * 2 - 1);
  // Each moves by another measure: peak rates that suit the problem.
  const std::map<std::string, double> peaks{
      {"sgd", 0.05}, {"lars", 2}, {"larc", 0.05}, {"lion", 0.02}};
  for (const auto& name : names()) {
    CAPTURE(name);
    vectors state(layout.values(), 3);
    auto distance = [&] {
      double sum = 0;
      for (std::size_t i = 0; i < target.size(); ++i)
        sum += (state.x[i] - target[i]) * (state.x[i] - target[i]);
      return std::sqrt(sum);
    };
    const double before = distance();
    auto rule = optimizer_of(name, layout, {1, 1, {}}, {{"weight-decay", 0}});
    const auto peak = peaks.count(name) ? peaks.at(name) : 0.05;
    for (std::uint64_t step = 1; step <= 400; ++step) {
      for (std::size_t i = 0; i < target.size(); ++i)
        state.gradient[i] = state.x[i] - target[i];
      const auto left = static_cast<double>(401 - step) / 400;
      rule.apply(state.all(), state.gradient.data(), step, peak * left);
    }
    CHECK(distance() < before / 100);
  }
}

TEST_CASE("the digests made on the way are those of the vectors") {
  auto layout = odd_layout();
  layout.add("long", {300'001}, true, 0, 0.02f);
  for (const auto& name : names())
    for (unsigned threads : {1u, 3u}) {
      CAPTURE(name);
      CAPTURE(threads);
      vectors state(layout.values(), 7);
      state_digests made;
      CHECK(optimizer_of(name, layout, {1, threads, {}})
                .apply(state.all(), state.gradient.data(), 1, 0.01, &made)
            == optimizer::verdict::applied);
      auto of = [](const std::vector<float>& x) {
        return digest_of(x.data(), x.size() * sizeof(float));
      };
      CHECK(made.parameters == of(state.x));
      CHECK(made.first_moment == of(state.m));
      CHECK(made.second_moment == of(state.v));
    }
}

TEST_CASE("a gradient that is not finite changes nothing") {
  const auto layout = odd_layout();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& name : names()) {
    CAPTURE(name);
    vectors state(layout.values(), 7);
    auto before = state.digest();
    auto rule = optimizer_of(name, layout, {});
    for (float bad : {std::nanf(""), infinity, -infinity, 1e30f})
      for (std::size_t at : {std::size_t{0}, state.gradient.size() - 1}) {
        auto gradient = state.gradient;
        gradient[at] = bad;
        CHECK(rule.apply(state.all(), gradient.data(), 1, 0.01)
              == optimizer::verdict::unusable);
        CHECK(state.digest() == before);
      }
  }
}

TEST_CASE("a large but finite gradient is clipped") {
  const auto layout = odd_layout();
  for (const auto& name : names()) {
    CAPTURE(name);
    vectors state(layout.values(), 7);
    state.gradient.assign(state.gradient.size(), 1e30f);
    CHECK(optimizer_of(name, layout)
              .apply(state.all(), state.gradient.data(), 1, 0.01)
          == optimizer::verdict::applied);
    for (auto* part : {&state.x, &state.m, &state.v})
      for (float value : *part)
        REQUIRE(std::isfinite(value));
  }
}

TEST_CASE("a tensor of zeros leaves zero") {
  for (const auto& name : names()) {
    CAPTURE(name);
    model_layout layout;
    layout.add("weight", {3}, true, 0, 0);
    std::vector<float> x(3), m(3), v(3), gradient{0.1f, -0.1f, 0.1f};
    optimizer_of(name, layout)
        .apply({x.data(), m.data(), v.data()}, gradient.data(), 1, 0.01);
    CHECK(x[0] < 0);
    CHECK(x[1] > 0);
  }
}

TEST_CASE("what does not decay is not moved by a gradient of zero") {
  model_layout layout;
  layout.add("bias", {2}, false, 0, 0);
  layout.add("weight", {2}, true, 0, 0);
  const std::vector<float> gradient(4, 0.0f);
  for (const auto& name : names()) {
    CAPTURE(name);
    std::vector<float> x{4, -4, 4, -4}, m(4), v(4);
    optimizer_of(name, layout, {}, {{"weight-decay", 0.5}})
        .apply({x.data(), m.data(), v.data()}, gradient.data(), 1, 0.01);
    CHECK(x[0] == 4);
    CHECK(x[1] == -4);
    CHECK(x[2] < 4);
    CHECK(x[3] > -4);
  }
}

TEST_CASE("a tensor may have a rate of its own") {
  model_layout layout;
  layout.add("slow", {2}, false, 0, 0);
  layout.add("fast", {2}, false, 0, 0);
  layout.add("still", {2}, true, 0, 0);
  const std::vector<float> gradient{1, 2, 1, 2, 1, 2};
  for (const auto& name : names()) {
    CAPTURE(name);
    std::vector<float> x(6, 1.0f), m(6), v(6);
    optimizer_of(name, layout, {0, 1, {{false, 1}, {false, 10}, {true, 0}}})
        .apply({x.data(), m.data(), v.data()}, gradient.data(), 1, 1e-3);
    CHECK(1 - x[0] > 0);
    CHECK(1 - x[2] == doctest::Approx(10 * (1 - x[0])).epsilon(1e-3));
    CHECK(1 - x[3] == doctest::Approx(10 * (1 - x[1])).epsilon(1e-3));
    CHECK(x[4] == 1);
    CHECK(x[5] == 1);
  }
}

TEST_CASE("mistakes of the caller are thrown") {
  model_layout layout;
  CHECK_THROWS_AS(optimizer_of("adam", layout)
                      .apply({nullptr, nullptr, nullptr}, nullptr, 0, 1),
                  std::invalid_argument);
  CHECK_THROWS_AS(optimizer_of("adam", layout, {0, 1, {{}, {}}}),
                  std::invalid_argument);
}

TEST_CASE("rules and numbers that are not there are refused by name") {
  auto reason = [](const std::string& name,
                   const std::map<std::string, std::string>& numbers) {
    auto x = make_rule(name, numbers);
    return x ? std::string{} : x.error();
  };
  CHECK(reason("adagrad", {})
        == "optimizer must be one of lamb, dedloc-lamb, adam, adamw, sgd, "
           "lars, larc, lion");
  CHECK(
      reason("lion", {{"momentum", "0.5"}}).find("\"momentum\" is a setting of")
      == 0);
  CHECK(reason("adam", {{"beta1", "1"}})
        == "beta1 is 1, but must be at least 0 and less than 1");
  CHECK(reason("adam", {{"epsilon", "nan"}}).find("epsilon is nan") == 0);
  CHECK(reason("sgd", {{"nesterov", "1"}})
        == "nesterov must be one of yes, no");
  for (const auto& name : names())
    CHECK(reason(name, {}).empty());
}

TEST_CASE("powers are those of mathematics") {
  for (std::uint64_t n : {0u, 1u, 2u, 7u, 1000u, 125000u})
    CHECK(exact_power(0.999, n)
          == doctest::Approx(std::pow(0.999, double(n))).epsilon(1e-10));
  CHECK(exact_power(0, 0) == 1);
  CHECK(exact_power(0, 5) == 0);
}
