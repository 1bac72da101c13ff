/// The rules' loops against their papers, on random vectors and by hand.
#include "tests/runtime/optimizer/published_rules.hpp"

#include <cmath>
#include <doctest/doctest.h>

#include "tests/runtime/optimizer/bench_of_vectors.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

struct trial {
  std::string name;
  published_rule published;
  rule_numbers numbers = {};
};

std::vector<trial> trials() {
  return {
      {"lamb", published_lamb},
      {"dedloc-lamb", published_dedloc_lamb},
      {"adam", published_adam},
      {"adam", published_adam, {{"weight-decay", 0.1}}},
      {"adamw", published_adamw},
      {"sgd", published_sgd},
      {"sgd", published_sgd, {{"momentum", 0}, {"weight-decay", 0.01}}},
      {"sgd", published_sgd, {{"nesterov", 1}, {"weight-decay", 0.01}}},
      {"lars", published_lars},
      {"larc", published_larc},
      {"lion", published_lion},
  };
}

rule_numbers all_numbers(const trial& x) {
  rule_numbers all = x.numbers;
  for (const auto& number : optimizer_family().find(x.name)->settings)
    all.insert({number.name, real_in(number.usual)}); // "no" is 0.
  return all;
}

double distance(const std::vector<float>& a, const reals& b) {
  reals difference;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference.push_back(static_cast<double>(a[i]) - b[i]);
  return norm(difference);
}

reals widened(const std::vector<float>& x) {
  return {x.begin(), x.end()};
}

/// One tensor of two values.
struct by_hand {
  model_layout layout;
  std::vector<float> x{3, -4}, m{0, 0}, v{0, 0};

  explicit by_hand(bool decays = true) {
    layout.add("weight", {2}, decays, 0, 0);
  }

  void step(const std::string& name, const rule_numbers& numbers,
            std::vector<float> gradient, double rate, std::uint64_t number,
            double clip_norm = 0) {
    auto rule = optimizer_of(name, layout, {clip_norm, 1, {}}, numbers);
    REQUIRE(rule.apply({x.data(), m.data(), v.data()}, gradient.data(), number,
                       rate)
            == optimizer::verdict::applied);
  }

  void is(double first, double second) const {
    CHECK(x[0] == doctest::Approx(first).epsilon(1e-6));
    CHECK(x[1] == doctest::Approx(second).epsilon(1e-6));
  }
};

} // namespace

TEST_CASE("an update is the paper's to a millionth") {
  const auto layout = odd_layout();
  for (const auto& x : trials())
    for (double clip : {0.0, 0.1}) {
      CAPTURE(x.name);
      CAPTURE(clip);
      const auto numbers = all_numbers(x);
      vectors state(layout.values(), 7);
      auto rule = optimizer_of(x.name, layout, {clip, 1, {}}, x.numbers);
      for (int step = 1; step <= 5; ++step) {
        // From where the loops are, so that errors do not add up.
        published_model published(layout, state.x, state.m, state.v);
        const auto before = state.x;
        state.draw_gradient(static_cast<std::uint64_t>(step));
        const auto length = norm(widened(state.gradient));
        published.apply(x.published, state.gradient, step, 0.01, numbers,
                        clip > 0 ? clip / length : 1);
        rule.apply(state.all(), state.gradient.data(),
                   static_cast<std::uint64_t>(step), 0.01);
        const auto wanted = published.parameters();
        CHECK(distance(before, wanted) > 0);
        CHECK(distance(state.x, wanted) < 1e-6 * norm(wanted));
      }
    }
}

TEST_CASE("a hundred steps stay near the paper's") {
  const auto layout = odd_layout();
  for (const auto& x : trials()) {
    CAPTURE(x.name);
    const auto numbers = all_numbers(x);
    vectors state(layout.values(), 7);
    published_model published(layout, state.x, state.m, state.v);
    const auto start = state.x;
    // LARS's coefficient is a thousandth.
    const double rate = x.name == "lars" ? 3 : 0.003;
    auto rule = optimizer_of(x.name, layout, {0, 1, {}}, x.numbers);
    for (int step = 1; step <= 100; ++step) {
      state.draw_gradient(static_cast<std::uint64_t>(step));
      published.apply(x.published, state.gradient, step, rate, numbers, 1);
      rule.apply(state.all(), state.gradient.data(),
                 static_cast<std::uint64_t>(step), rate);
    }
    const auto wanted = published.parameters();
    CHECK(distance(state.x, wanted) < 1e-4 * distance(start, wanted));
  }
}

TEST_CASE("SGD by hand") {
  by_hand x;
  const rule_numbers plain{{"momentum", 0.5}, {"weight-decay", 0.5}};
  x.step("sgd", plain, {1, 1}, 0.1, 1);
  x.is(3 - 0.1 * 2.5, -4 - 0.1 * -1); // m = {2.5, -1}
  x.step("sgd", plain, {1, 1}, 0.1, 2);
  // m = {1.25 + 1 + 1.375, -0.5 + 1 - 1.95}
  x.is(2.75 - 0.3625, -3.9 + 0.145);
  by_hand nesterov;
  nesterov.step("sgd", {{"momentum", 0.5}, {"nesterov", 1}}, {1, 2}, 0.1, 1);
  nesterov.is(3 - 0.1 * 1.5, -4 - 0.1 * 3);
  by_hand bias(false);
  bias.step("sgd", plain, {0, 0}, 0.1, 1);
  bias.is(3, -4);
}

TEST_CASE("a gradient is clipped before it decays, as PyTorch does it") {
  by_hand x;
  x.step("sgd", {{"momentum", 0}, {"weight-decay", 1}}, {30, 40}, 0.1, 1, 5);
  x.is(3 - 0.1 * (3 + 3), -4 - 0.1 * (4 - 4));
}

TEST_CASE("Adam and AdamW by hand") {
  // The first update moves by the rate, against the gradient's sign.
  by_hand x;
  x.step("adam", {}, {0.5f, -2}, 0.1, 1);
  x.is(3 - 0.1, -4 + 0.1);
  // m = 0.05 * 0.9 + 0.1, over 1 - 0.81; v = (0.00025 * 0.999 + 0.001) over
  // 1 - 0.998001.
  by_hand y;
  y.step("adam", {}, {0.5f, 0}, 0.1, 1);
  y.step("adam", {}, {1, 0}, 0.1, 2);
  y.is(2.9
           - 0.1 * (0.145 / 0.19)
                 / std::sqrt((0.00025 * 0.999 + 0.001) / 0.001999),
       -4);
  by_hand decoupled;
  decoupled.step("adamw", {{"weight-decay", 0.5}}, {0.5f, -2}, 0.1, 1);
  decoupled.is(3 - 0.1 - 0.05 * 3, -4 + 0.1 + 0.05 * 4);
  by_hand coupled; // The gradient's sign is the penalty's.
  coupled.step("adam", {{"weight-decay", 0.5}}, {-1, 1}, 0.1, 1);
  coupled.is(3 - 0.1, -4 + 0.1);
}

TEST_CASE("LAMB and DeDLOC's variant by hand") {
  // r = {1, -1}: the tensor moves by a tenth of its norm, which is 5.
  by_hand x;
  x.step("lamb", {{"weight-decay", 0}}, {0.5f, -2}, 0.1, 1);
  x.is(3 - 0.5 / std::sqrt(2), -4 + 0.5 / std::sqrt(2));
  // m / sqrt(v) = 0.1 / sqrt(0.001), and the rate gets what that lacks.
  const auto correction = std::sqrt(0.001) / 0.1;
  by_hand y;
  y.step("dedloc-lamb", {{"weight-decay", 0}}, {0.5f, -2}, 0.1, 1);
  y.is(3 - correction * 0.5 / std::sqrt(2),
       -4 + correction * 0.5 / std::sqrt(2));
  by_hand bias(false);
  bias.step("dedloc-lamb", {}, {0.5f, -2}, 0.1, 1);
  bias.is(3 - correction * 0.5 / std::sqrt(2),
          -4 + correction * 0.5 / std::sqrt(2));
  by_hand huge;
  huge.x = {3e6f, -4e6f};
  huge.step("dedloc-lamb", {{"weight-decay", 0}, {"epsilon", 1e-12}},
            {0.5f, -2}, 100, 1);
  const auto moved = correction * 100 * 10'000 / std::sqrt(2);
  huge.is(3e6 - moved, -4e6 + moved);
}

TEST_CASE("LARS and LARC by hand") {
  // ||x|| = 5, ||g|| = 10: a factor of 0.1 * 5 / (10 + 0.5 * 5) = 0.04.
  const rule_numbers numbers{
      {"trust-coefficient", 0.1}, {"weight-decay", 0.5}, {"momentum", 0.5}};
  by_hand x;
  x.step("lars", numbers, {6, 8}, 2, 1);
  x.is(3 - 0.08 * 7.5, -4 - 0.08 * 6);
  by_hand small; // The rate is below 0.04, and stays.
  small.step("larc", numbers, {6, 8}, 0.01, 1);
  small.is(3 - 0.01 * 7.5, -4 - 0.01 * 6);
  by_hand large;
  large.step("larc", numbers, {6, 8}, 2, 1);
  large.is(3 - 0.04 * 7.5, -4 - 0.04 * 6);
  for (std::string name : {"lars", "larc"}) {
    by_hand bias(false);
    bias.step(name, numbers, {6, 8}, 0.1, 1);
    bias.is(3 - 0.6, -4 - 0.8);
    by_hand zero;
    zero.x = {0, 0};
    zero.step(name, numbers, {6, 8}, 0.1, 1);
    zero.is(-0.6, -0.8);
  }
}

TEST_CASE("Lion by hand") {
  const rule_numbers numbers{
      {"beta1", 0.9}, {"beta2", 0.99}, {"weight-decay", 0.5}};
  by_hand x;
  x.step("lion", numbers, {0.001f, 0}, 0.1, 1);
  x.is(3 - 0.1 * (1 + 1.5), -4 - 0.1 * (0 - 2));
  CHECK(x.m[0] == doctest::Approx(1e-5));
  // The moment is kept with beta2, and counts with beta1: 9e-6 - 1e-5 < 0.
  by_hand y;
  y.step("lion", {{"weight-decay", 0}}, {0.001f, 0}, 0.1, 1);
  y.step("lion", {{"weight-decay", 0}}, {-0.0001f, 1}, 0.1, 2);
  y.is(3 - 0.1 + 0.1, -4 - 0.1);
}
