/// Experts of LibTorch against plain loops and slopes.

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "models/experts/catalogue.hpp"
#include "runtime/random.hpp"
#include "tests/models/experts/plain_expert.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

expert_kind kind_of(const std::string& layer) {
  expert_kind x;
  x.layer = layer;
  x.hidden = 6;
  x.inner = 5;
  x.heads = 2;
  x.tokens = 3;
  x.learning_rate = 0.01;
  return x;
}

std::vector<float> noise(std::uint64_t seed, std::size_t count) {
  random_stream chance(seed);
  std::vector<float> x;
  for (std::size_t i = 0; i < count; ++i)
    x.push_back(static_cast<float>(2 * chance.uniform01() - 1));
  return x;
}

reals widened(const std::vector<float>& x) {
  return reals(x.begin(), x.end());
}

/// An expert with what it is called with; parameters with some noise, so that
/// no bias is zero and no norm's weight one.
struct lesson {
  explicit lesson(const std::string& layer, std::uint64_t seed = 5)
      : kind(kind_of(layer)),
        module(make_expert_factory("cpu", 1)(kind, "ffn.1.2", seed)) {
    state = *read_expert(kind, module->save());
    auto more = noise(seed, state.parameters.size());
    for (std::size_t i = 0; i < more.size(); ++i)
      state.parameters[i] += 0.3f * more[i];
    module->load(expert_bytes(kind, state));
    auto values = samples * module->shape().inputs;
    in = noise(seed + 1, values);
    grad_out = noise(seed + 2, values);
    out.resize(values);
    grad_in.resize(values);
  }

  /// The scalar whose gradients a backward pass computes.
  double score(const reals& parameters, const reals& x) const {
    auto y = plain_outputs(kind, parameters, x);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      sum += y[i] * double(grad_out[i]);
    return sum;
  }

  expert_kind kind;
  std::unique_ptr<expert_module> module;
  training_state state;
  std::uint32_t samples = 2;
  std::vector<float> in, grad_out, out, grad_in;
};

double slope(reals at, std::size_t i,
             const std::function<double(const reals&)>& f) {
  constexpr double step = 1e-5;
  at[i] += step;
  auto above = f(at);
  at[i] -= 2 * step;
  return (above - f(at)) / (2 * step);
}

std::string reason_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "no failure";
}

bool mentions(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("forward passes are those of plain loops") {
  for (std::string layer : {"ffn", "transformer"}) {
    CAPTURE(layer);
    lesson x{layer};
    x.module->forward(x.samples, x.in.data(), x.out.data());
    auto wanted
        = plain_outputs(x.kind, widened(x.state.parameters), widened(x.in));
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK(std::abs(x.out[i] - wanted[i]) < 1e-5);
    CHECK(x.module->updates() == 0);
  }
}

TEST_CASE("the gradients of inputs and of every parameter are the slopes") {
  for (std::string layer : {"ffn", "transformer"}) {
    CAPTURE(layer);
    lesson x{layer};
    auto parameters = widened(x.state.parameters);
    auto in = widened(x.in);
    x.module->backward(x.samples, x.in.data(), x.grad_out.data(),
                       x.grad_in.data());
    for (std::size_t i = 0; i < in.size(); ++i)
      CHECK(std::abs(
                x.grad_in[i]
                - slope(in, i,
                        [&](const reals& y) { return x.score(parameters, y); }))
            < 2e-4);
    // The first moment after one update is a tenth of the gradient.
    auto after = *read_expert(x.kind, x.module->save());
    for (std::size_t i = 0; i < parameters.size(); ++i)
      CHECK(std::abs(10 * after.first_moment[i]
                     - slope(parameters, i,
                             [&](const reals& y) { return x.score(y, in); }))
            < 2e-4);
  }
}

TEST_CASE("each backward pass is one update of Adam") {
  lesson x{"ffn"};
  reals p = widened(x.state.parameters), m(p.size()), v(p.size());
  auto last = x.state;
  for (int step = 1; step <= 3; ++step) {
    x.module->backward(x.samples, x.in.data(), x.grad_out.data(),
                       x.grad_in.data());
    CHECK(x.module->updates() == std::uint64_t(step));
    auto now = *read_expert(x.kind, x.module->save());
    CHECK(now.step == std::uint64_t(step));
    for (std::size_t i = 0; i < p.size(); ++i) {
      // Kingma and Ba 2014, Algorithm 1, with the gradient that was applied.
      auto g = (now.first_moment[i] - 0.9 * last.first_moment[i]) / 0.1;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      p[i] -= 0.01 * (m[i] / (1 - std::pow(0.9, step)))
              / (std::sqrt(v[i] / (1 - std::pow(0.999, step))) + 1e-8);
      // Where the gradient is next to nothing the direction is noise.
      if (std::abs(g) > 1e-3)
        CHECK(std::abs(now.parameters[i] - p[i]) < 1e-5);
      p[i] = double(now.parameters[i]);
    }
    last = now;
  }
}

TEST_CASE("an expert learns what it is taught") {
  lesson x{"transformer"};
  auto score = [&] {
    x.module->forward(x.samples, x.in.data(), x.out.data());
    double sum = 0;
    for (std::size_t i = 0; i < x.out.size(); ++i)
      sum += double(x.out[i]) * double(x.grad_out[i]);
    return sum;
  };
  auto before = score();
  for (int i = 0; i < 20; ++i)
    x.module->backward(x.samples, x.in.data(), x.grad_out.data(),
                       x.grad_in.data());
  CHECK(score() < before - 1);
}

TEST_CASE("experts are equal for equal kinds, uids and seeds, and for no "
          "others") {
  auto make = make_expert_factory("cpu", 1);
  for (std::string layer : {"ffn", "transformer"}) {
    auto kind = kind_of(layer);
    auto one = make(kind, "ffn.1.2", 7)->save();
    CHECK(make(kind, "ffn.1.2", 7)->save() == one);
    CHECK(make(kind, "ffn.2.1", 7)->save() != one);
    CHECK(make(kind, "ffn.1.2", 8)->save() != one);
  }
}

TEST_CASE("what is saved goes on where it was") {
  for (std::string layer : {"ffn", "nop", "transformer"}) {
    CAPTURE(layer);
    auto make = make_expert_factory("cpu", 1);
    auto kind = kind_of(layer);
    auto first = make(kind, "a.1", 1);
    auto values = 2 * first->shape().inputs;
    auto in = noise(3, values);
    auto teach = [&](expert_module& x) {
      std::vector<float> back(values);
      x.backward(2, in.data(), in.data(), back.data());
      return back;
    };
    teach(*first);
    auto second = make(kind, "a.2", 9);
    second->load(first->save());
    CHECK(second->updates() == 1);
    CHECK(teach(*first) == teach(*second));
    CHECK(first->save() == second->save());
  }
}

TEST_CASE("bytes that are not such an expert's are refused and change "
          "nothing") {
  lesson x{"ffn"};
  auto before = x.module->save();
  auto load = [&](std::vector<std::uint8_t> bytes) {
    auto reason = reason_of([&] { x.module->load(bytes); });
    CHECK(x.module->save() == before);
    return reason;
  };
  CHECK(mentions(load({}), "no expert's state"));
  CHECK(mentions(load(std::vector<std::uint8_t>(200, 7)), "no expert's state"));
  auto other_version = before;
  other_version[8] = 9;
  CHECK(mentions(load(other_version), "another format"));
  for (std::size_t at : {12u, 33u, 100u}) { // Reserved, updates, a parameter.
    auto damaged = before;
    damaged[at] ^= 1;
    CHECK(mentions(load(damaged), "damaged"));
  }
  auto cut = before;
  cut.pop_back();
  CHECK(mentions(load(cut), "damaged"));
  auto bigger = kind_of("ffn");
  bigger.inner = 7;
  CHECK(mentions(
      load(make_expert_factory("cpu", 1)(bigger, "ffn.1.2", 5)->save()),
      "another kind"));
}

TEST_CASE("a gradient that is not finite is refused and changes nothing") {
  for (std::string layer : {"ffn", "transformer"}) {
    CAPTURE(layer);
    lesson x{layer};
    auto before = x.module->save();
    for (float bad : {std::numeric_limits<float>::quiet_NaN(),
                      std::numeric_limits<float>::infinity(), 3e38f}) {
      auto gradients = x.grad_out;
      for (auto& g : gradients)
        g = bad;
      CHECK_THROWS_AS(x.module->backward(x.samples, x.in.data(),
                                         gradients.data(), x.grad_in.data()),
                      unusable_gradient);
      CHECK(x.module->save() == before);
    }
  }
}

TEST_CASE("kinds of experts that cannot be are refused with a sentence") {
  auto make = make_expert_factory("cpu", 1);
  auto refusal = [&](const std::function<void(expert_kind&)>& change) {
    auto kind = kind_of("transformer");
    change(kind);
    CHECK(reason_of([&] { make(kind, "a.1", 1); }) == problem_with(kind));
    return problem_with(kind);
  };
  CHECK(problem_with(kind_of("transformer")).empty());
  CHECK(mentions(refusal([](auto& x) { x.layer = "soup"; }), "choose ffn"));
  CHECK(mentions(refusal([](auto& x) { x.heads = 4; }), "heads"));
  CHECK(mentions(refusal([](auto& x) { x.heads = 0; }), "heads"));
  CHECK(mentions(refusal([](auto& x) { x.hidden = 0; }), "at least 1"));
  CHECK(mentions(refusal([](auto& x) { x.tokens = 1u << 22; }), "smaller"));
  CHECK(mentions(refusal([](auto& x) {
                   x.hidden = 1u << 16;
                   x.tokens = 1;
                 }),
                 "too many"));
  CHECK(mentions(reason_of([] {
                   make_expert_factory("abacus", 1)(kind_of("ffn"), "a.1", 1);
                 }),
                 "no device"));
}
