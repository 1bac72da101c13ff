#include "runtime/experts/mixture_calls.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "messages/limits.hpp"
#include "tests/support/memory_experts.hpp"

using namespace potluck;
using support::memory_experts;
using namespace std::chrono_literals;

namespace {

/// A mixture of experts "x.0" to "x.3" of three inputs and two outputs.
struct mixture {
  mixture() {
    rules.slots = 2;
    rules.inputs = 3;
    rules.outputs = 2;
    rules.timeout_after_k_min = 20s;
    rules.patience = 20s;
  }

  /// Sample i is at the experts i and i + 1, modulo 4.
  mixture_batch batch(std::size_t samples) {
    inputs.resize(samples * 3);
    std::iota(inputs.begin(), inputs.end(), 0.0f);
    for (auto& x : inputs)
      x = std::sin(x);
    seating seats{"x"};
    for (std::uint32_t i = 0; i < samples; ++i)
      for (std::uint32_t slot = 0; slot < 2; ++slot)
        seats.add({(i + slot) % 4}, {i, slot});
    return {network, &known, rules, seats.groups(), samples, inputs.data()};
  }
  /// What one expert alone answers for one sample.
  std::vector<float> alone(std::uint32_t expert, const float* sample,
                           const float* gradient = nullptr) {
    seating seats{"x"};
    seats.add({expert}, {0, 0});
    auto one = rules;
    one.slots = 1;
    std::vector<float> out(gradient ? 3 : 2);
    const mixture_batch b{network, nullptr, one, seats.groups(), 1, sample};
    const auto done = gradient ? backward_pass(b, gradient, out.data())
                               : forward_pass(b, out.data());
    REQUIRE(done.all);
    return out;
  }

  memory_experts network{{3, 2, 7}, {"x.0", "x.1", "x.2", "x.3"}};
  expert_memory known;
  mixture_rules rules;
  std::vector<float> inputs;
};

} // namespace

TEST_CASE("seats are put together by expert, in the order of their naming") {
  seating seats{"ffn.1"};
  seats.add({3, 0}, {0, 0});
  seats.add({1, 2}, {0, 1});
  seats.add({3, 0}, {1, 0});
  REQUIRE(seats.groups().size() == 2);
  CHECK(seats.groups()[0].uid == "ffn.1.3.0");
  CHECK(seats.groups()[0].seats.size() == 2);
  CHECK(seats.groups()[0].seats[1].sample == 1);
  CHECK(seats.groups()[1].uid == "ffn.1.1.2");
}

TEST_CASE("every seat gets its own expert's answer for its own sample") {
  mixture m;
  const auto b = m.batch(6);
  std::vector<float> out(6 * 2 * 2);
  const auto done = forward_pass(b, out.data());
  CHECK(done.all);
  CHECK(done.problem.empty());
  CHECK(done.answered == std::vector<bool>(12, true));
  for (std::uint32_t i = 0; i < 6; ++i)
    for (std::uint32_t slot = 0; slot < 2; ++slot) {
      const auto expected = m.alone((i + slot) % 4, b.inputs + 3 * i);
      for (std::size_t v = 0; v < 2; ++v)
        CHECK(out[(2 * i + slot) * 2 + v] == doctest::Approx(expected[v]));
    }
}

TEST_CASE("the inputs' gradients of a sample's experts add up") {
  mixture m;
  const auto b = m.batch(5);
  std::vector<float> gradients(5 * 2 * 2);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    gradients[i] = std::cos(static_cast<float>(i));
  std::vector<float> out(5 * 3);
  CHECK(backward_pass(b, gradients.data(), out.data()).all);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const auto* g = gradients.data() + i * 4;
    const auto first = m.alone(i % 4, b.inputs + 3 * i, g);
    const auto second = m.alone((i + 1) % 4, b.inputs + 3 * i, g + 2);
    for (std::size_t v = 0; v < 3; ++v)
      CHECK(out[3 * i + v] == doctest::Approx(first[v] + second[v]));
  }
  const auto before = m.network.updates("x.0");
  CHECK(backward_pass(b, gradients.data(), nullptr).all);
  CHECK(m.network.updates("x.0") > before); // It learns all the same.
}

TEST_CASE("who fails is left out, and its outputs stay zeros") {
  mixture m;
  m.network.set_faults([](const expert_call& x) {
    memory_experts::fault f;
    if (x.uid == "x.1")
      f.what = memory_experts::fault::kind::fails;
    return f;
  });
  const auto b = m.batch(4);
  std::vector<float> out(4 * 2 * 2);
  const auto done = forward_pass(b, out.data());
  CHECK(!done.all);
  CHECK(!done.problem.empty());
  CHECK(done.answered
        == std::vector<bool>{true, false, false, true, true, true, true, true});
  CHECK(done.enough == std::vector<bool>(4, true));
  CHECK(out[2] == 0);
  CHECK(out[4] == 0);
  CHECK(out[6] != 0);
}

TEST_CASE("what one call has no room for goes in several") {
  mixture m;
  const std::size_t samples = 10'000; // 5,000 for each expert, 2,048 a call.
  const auto b = m.batch(samples);
  std::vector<float> out(samples * 4);
  const auto done = forward_pass(b, out.data());
  CHECK(done.all);
  CHECK(m.network.asked().forward == 4 * 3);
  const auto last = m.alone((samples - 1) % 4, b.inputs + 3 * (samples - 1));
  CHECK(out[4 * (samples - 1)] == doctest::Approx(last[0]));
}
