#include "runtime/optimizer/lamb.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "messages/ids.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

/// Sizes around the optimizer's blocks and lanes, decaying and not.
model_layout test_layout() {
  model_layout layout;
  layout.add("large", {3, 9001}, true, 0, 0.02f);
  layout.add("bias", {17}, false, 0, 0);
  layout.add("one", {1}, true, 0, 0.02f);
  layout.add("empty", {0, 4}, true, 0, 0);
  layout.add("square", {8, 8}, true, 0, 0.02f);
  layout.add("norm", {8193}, false, 1, 0);
  return layout;
}

struct vectors {
  std::vector<float> x, m, v, gradient;

  vectors(std::size_t size, std::uint64_t seed)
      : x(size), m(size), v(size), gradient(size) {
    random_stream chance(seed);
    for (auto& value : x)
      value = static_cast<float>(chance.uniform01() - 0.5);
    draw_gradient(chance.next());
  }

  void draw_gradient(std::uint64_t seed) {
    random_stream chance(seed);
    for (auto& value : gradient)
      value = static_cast<float>((chance.uniform01() - 0.5) * 0.01);
  }

  potluck::digest digest() const {
    std::string all;
    for (auto* part : {&x, &m, &v}) {
      auto d = digest_of(part->data(), part->size() * sizeof(float));
      all.append(reinterpret_cast<const char*>(d.bytes.data()), d.size);
    }
    return digest_of(all.data(), all.size());
  }
};

/// A setting of LAMB's alone, or its usual value.
double number_in(const run_settings& x, const std::string& name) {
  const auto kind = lamb_kind();
  return kind_settings{kind, x}.real(name);
}

run_settings test_settings() {
  run_settings x;
  x.steps = 50;
  x.warmup_steps = 5;
  x.learning_rate = 0.01;
  return x;
}

vectors after(int steps, unsigned threads) {
  auto layout = test_layout();
  vectors state(layout.values(), 7);
  optimizer lamb(test_settings(), threads);
  for (int step = 1; step <= steps; ++step) {
    state.draw_gradient(static_cast<std::uint64_t>(step));
    REQUIRE(lamb.apply(layout, state.x.data(), state.m.data(), state.v.data(),
                       state.gradient.data(), static_cast<std::uint64_t>(step))
            == optimizer::verdict::applied);
  }
  return state;
}

/// Algorithm 2 as the paper writes it, in double and without any thought.
struct naive_lamb {
  std::vector<double> x, m, v;

  explicit naive_lamb(const std::vector<float>& start)
      : x(start.begin(), start.end()), m(x.size()), v(x.size()) {
  }

  void apply(const run_settings& s, const model_layout& layout,
             const std::vector<float>& gradient, int step) {
    const double beta1 = number_in(s, "beta1"), beta2 = number_in(s, "beta2");
    const double epsilon = number_in(s, "epsilon");
    double squares = 0;
    for (double g : gradient)
      squares += g * g;
    double norm = std::sqrt(squares);
    double scale = norm > s.clip_norm ? s.clip_norm / norm : 1;
    for (const auto& tensor : layout.entries()) {
      double decay = tensor.decays ? number_in(s, "weight-decay") : 0;
      std::vector<double> r;
      double x_squares = 0, r_squares = 0;
      for (auto i = tensor.offset; i < tensor.offset + tensor.values; ++i) {
        double g = gradient[i] * scale;
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        double m_hat = m[i] / (1 - std::pow(beta1, step));
        double v_hat = v[i] / (1 - std::pow(beta2, step));
        r.push_back(m_hat / (std::sqrt(v_hat) + epsilon) + decay * x[i]);
        x_squares += x[i] * x[i];
        r_squares += r.back() * r.back();
      }
      double trust = tensor.decays && x_squares > 0 && r_squares > 0
                         ? std::sqrt(x_squares / r_squares)
                         : 1;
      double rate
          = learning_rate_at(s, static_cast<std::uint64_t>(step)) * trust;
      for (std::size_t i = 0; i < r.size(); ++i)
        x[tensor.offset + i] -= rate * r[i];
    }
  }
};

} // namespace

TEST_CASE("LAMB follows the paper's algorithm") {
  auto layout = test_layout();
  for (double clip : {1e9, 0.1}) {
    CAPTURE(clip);
    auto settings = test_settings();
    settings.clip_norm = clip;
    vectors state(layout.values(), 7);
    naive_lamb reference(state.x);
    optimizer lamb(settings);
    for (int step = 1; step <= 20; ++step) {
      state.draw_gradient(static_cast<std::uint64_t>(step));
      reference.apply(settings, layout, state.gradient, step);
      lamb.apply(layout, state.x.data(), state.m.data(), state.v.data(),
                 state.gradient.data(), static_cast<std::uint64_t>(step));
    }
    double worst_x = 0, worst_m = 0, moved = 0;
    vectors start(layout.values(), 7);
    for (std::size_t i = 0; i < state.x.size(); ++i) {
      worst_x = std::max(worst_x, std::abs(state.x[i] - reference.x[i]));
      worst_m = std::max(worst_m, std::abs(state.m[i] - reference.m[i]));
      moved = std::max(moved, std::abs(double(state.x[i]) - start.x[i]));
    }
    CHECK(worst_x < 2e-6);
    CHECK(worst_m < 1e-8);
    CHECK(moved > 0.01);
  }
}

TEST_CASE("any number of threads gives the same bits") {
  auto expected = after(5, 1).digest();
  CHECK(after(5, 1).digest() == expected);
  for (unsigned threads : {2u, 3u, 8u, 100u})
    CHECK(after(5, threads).digest() == expected);
  CHECK(after(6, 1).digest() != expected);
}

TEST_CASE("the bits are those of every other machine") {
  // Computed once; a difference means that peers would drift apart. Change it
  // only together with the optimizer's definition and the protocol's version.
  CHECK(to_string(after(5, 2).digest()) == "4b5ded0b92992e95a03beaac79caa1b8");
}

#ifdef __SSE2__
TEST_CASE("the bits stay where the thread flushes denormals or rounds down") {
  const auto usual = _mm_getcsr();
  const auto odd = usual | 0x8040 | 0x2000;
  auto after_three = [&](unsigned threads, unsigned arithmetic) {
    auto layout = test_layout();
    vectors state(layout.values(), 7);
    optimizer lamb(test_settings(), threads);
    for (std::uint64_t step = 1; step <= 3; ++step) {
      state.draw_gradient(step);
      for (auto& x : state.gradient)
        x *= 1e-17f; // Its square is a denormal.
      _mm_setcsr(arithmetic);
      lamb.apply(layout, state.x.data(), state.m.data(), state.v.data(),
                 state.gradient.data(), step);
      const auto left = _mm_getcsr();
      _mm_setcsr(usual);
      CHECK((left & 0xffc0) == (arithmetic & 0xffc0)); // But for exceptions.
    }
    return state;
  };
  const auto expected = after_three(1, usual);
  CHECK(std::any_of(expected.v.begin(), expected.v.end(), [](float x) {
    return std::fpclassify(x) == FP_SUBNORMAL;
  }));
  for (unsigned threads : {1u, 3u})
    CHECK(after_three(threads, odd).digest() == expected.digest());
}
#endif

TEST_CASE("a quadratic problem converges") {
  model_layout layout;
  layout.add("x", {1000}, true, 0, 0);
  auto settings = test_settings();
  settings.steps = 400;
  settings.warmup_steps = 20;
  settings.learning_rate = 0.05;
  settings.own["optimizer"]["weight-decay"] = "0";
  vectors state(layout.values(), 3);
  std::vector<float> target(1000);
  random_stream chance(4);
  for (auto& value : target)
    value = static_cast<float>(chance.uniform01() * 2 - 1);
  auto distance = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < target.size(); ++i)
      sum += (state.x[i] - target[i]) * (state.x[i] - target[i]);
    return std::sqrt(sum);
  };
  double before = distance();
  optimizer lamb(settings);
  for (std::uint64_t step = 1; step <= settings.steps; ++step) {
    for (std::size_t i = 0; i < target.size(); ++i)
      state.gradient[i] = state.x[i] - target[i];
    lamb.apply(layout, state.x.data(), state.m.data(), state.v.data(),
               state.gradient.data(), step);
  }
  CHECK(distance() < before / 100);
}

TEST_CASE("the digests made on the way are those of the vectors") {
  auto layout = test_layout();
  for (unsigned threads : {1u, 3u}) {
    CAPTURE(threads);
    vectors state(layout.values(), 7);
    state_digests made;
    CHECK(optimizer(test_settings(), threads)
              .apply(layout, state.x.data(), state.m.data(), state.v.data(),
                     state.gradient.data(), 1, &made)
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
  auto layout = test_layout();
  vectors state(layout.values(), 7);
  auto before = state.digest();
  auto settings = test_settings();
  settings.clip_norm = 0;
  const float infinity = std::numeric_limits<float>::infinity();
  for (float bad : {std::nanf(""), infinity, -infinity, 1e30f})
    for (std::size_t at : {std::size_t{0}, state.gradient.size() - 1}) {
      auto gradient = state.gradient;
      gradient[at] = bad;
      CHECK(optimizer(settings).apply(layout, state.x.data(), state.m.data(),
                                      state.v.data(), gradient.data(), 1)
            == optimizer::verdict::unusable);
      CHECK(state.digest() == before);
    }
}

TEST_CASE("a large but finite gradient is clipped") {
  auto layout = test_layout();
  vectors state(layout.values(), 7);
  state.gradient.assign(state.gradient.size(), 1e30f);
  CHECK(optimizer(test_settings())
            .apply(layout, state.x.data(), state.m.data(), state.v.data(),
                   state.gradient.data(), 1)
        == optimizer::verdict::applied);
  for (auto* part : {&state.x, &state.m, &state.v})
    for (float value : *part)
      REQUIRE(std::isfinite(value));
}

TEST_CASE("biases and norms neither decay nor get a trust ratio") {
  model_layout layout;
  layout.add("bias", {2}, false, 0, 0);
  layout.add("weight", {2}, true, 0, 0);
  auto settings = test_settings();
  settings.warmup_steps = 0;
  settings.own["optimizer"]["weight-decay"] = "0.5";
  std::vector<float> x{4, -4, 4, -4}, m(4), v(4), gradient{0, 0, 0, 0};
  optimizer(settings).apply(layout, x.data(), m.data(), v.data(),
                            gradient.data(), 1);
  CHECK(x[0] == 4);
  CHECK(x[1] == -4);
  CHECK(x[2] < 4);
  gradient = {1, 1, 1, 1};
  x = {4, -4, 4, -4};
  m.assign(4, 0);
  v.assign(4, 0);
  optimizer(settings).apply(layout, x.data(), m.data(), v.data(),
                            gradient.data(), 1);
  // Without a trust ratio the first update moves by the learning rate.
  CHECK(x[0] == doctest::Approx(4 - learning_rate_at(settings, 1)));
}

TEST_CASE("a tensor of zeros leaves zero") {
  model_layout layout;
  layout.add("weight", {3}, true, 0, 0);
  std::vector<float> x(3), m(3), v(3), gradient{0.1f, -0.1f, 0.1f};
  optimizer(test_settings())
      .apply(layout, x.data(), m.data(), v.data(), gradient.data(), 1);
  CHECK(x[0] < 0);
  CHECK(x[1] > 0);
}

TEST_CASE("update number zero is a mistake of the caller") {
  model_layout layout;
  CHECK_THROWS_AS(optimizer(run_settings{})
                      .apply(layout, nullptr, nullptr, nullptr, nullptr, 0),
                  std::invalid_argument);
}

TEST_CASE("the learning rate warms up, decays and stays above zero") {
  auto settings = test_settings();
  double previous = 0;
  for (std::uint64_t step = 1; step <= settings.steps; ++step) {
    CAPTURE(step);
    double rate = learning_rate_at(settings, step);
    CHECK(rate > 0);
    CHECK(rate <= settings.learning_rate);
    if (step <= settings.warmup_steps)
      CHECK(rate > previous);
    else
      CHECK(rate < previous);
    previous = rate;
  }
  CHECK(learning_rate_at(settings, 5) == settings.learning_rate);
  CHECK(learning_rate_at(settings, 1) == doctest::Approx(0.002));
  CHECK(learning_rate_at(settings, 50) == doctest::Approx(0.01 / 46));
  CHECK(learning_rate_at(settings, 0) == 0);
  CHECK(learning_rate_at(settings, 51) == 0);
  settings.warmup_steps = settings.steps;
  CHECK(learning_rate_at(settings, 50) == settings.learning_rate);
}

TEST_CASE("powers are those of mathematics") {
  for (std::uint64_t n : {0u, 1u, 2u, 7u, 1000u, 125000u})
    CHECK(exact_power(0.999, n)
          == doctest::Approx(std::pow(0.999, double(n))).epsilon(1e-10));
  CHECK(exact_power(0, 0) == 1);
  CHECK(exact_power(0, 5) == 0);
}
