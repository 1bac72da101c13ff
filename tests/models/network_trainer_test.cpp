#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

#include "models/text/corpus.hpp"
#include "tests/models/fixture.hpp"
#include "tests/support/skip.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

using vector = std::vector<float>;

struct sum {
  batch_result counted;
  vector gradient;
};

/// Of a state that this number names; 0: of none that is named.
batch_request in_state(std::uint64_t number, std::uint64_t first,
                       std::uint32_t samples) {
  batch_request x{5, first, samples};
  if (number != 0)
    x.state = digest_of(&number, sizeof number);
  return x;
}

sum accumulate(trainer& model, const batch_request& request,
               const vector& parameters) {
  sum result{{}, vector(parameters.size())};
  std::atomic<bool> cancelled{false};
  result.counted = model.accumulate(request, parameters.data(),
                                    result.gradient.data(), cancelled);
  return result;
}

/// Relative to the length of `wanted`.
double distance(const vector& found, const vector& wanted) {
  double difference = 0, length = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    difference += std::pow(double{found[i]} - wanted[i], 2);
    length += std::pow(double{wanted[i]}, 2);
  }
  return std::sqrt(difference / length);
}

} // namespace

TEST_CASE("gradients of parts add up to the gradient of the whole") {
  small_run run(tiny_settings(), toy_text(1, 300));
  const auto parameters = draw_parameters(run.model->layout(), 3, 20);
  const auto whole = accumulate(*run.model, {5, 10, 12, 1}, parameters);
  CHECK(whole.counted.samples == 12);

  // Into one vector, which is added to and not overwritten.
  auto parts = accumulate(*run.model, {5, 10, 5, 1}, parameters);
  std::atomic<bool> cancelled{false};
  const auto rest = run.model->accumulate({5, 15, 7, 1}, parameters.data(),
                                          parts.gradient.data(), cancelled);
  CHECK(distance(parts.gradient, whole.gradient) < 1e-5);
  CHECK(parts.counted.loss_sum + rest.loss_sum
        == doctest::Approx(whole.counted.loss_sum).epsilon(1e-6));
}

TEST_CASE("a stride takes every so many samples") {
  small_run run(tiny_settings(), toy_text(1, 300));
  const auto parameters = draw_parameters(run.model->layout(), 3, 20);
  const auto strided = accumulate(*run.model, {5, 2, 3, 4}, parameters);
  vector singles(parameters.size());
  std::atomic<bool> cancelled{false};
  for (std::uint64_t number : {2u, 6u, 10u})
    run.model->accumulate({5, number, 1, 1}, parameters.data(), singles.data(),
                          cancelled);
  CHECK(distance(strided.gradient, singles) < 1e-5);
}

TEST_CASE("the size of a micro-batch changes nothing but rounding") {
  const auto text = toy_text(1, 300);
  small_run one(tiny_settings(), text, 1);
  small_run five(tiny_settings(), text, 5);
  const auto parameters = draw_parameters(one.model->layout(), 3, 20);
  const auto a = accumulate(*one.model, {5, 0, 12, 1}, parameters);
  const auto b = accumulate(*five.model, {5, 0, 12, 1}, parameters);
  CHECK(b.counted.samples == 12);
  CHECK(distance(b.gradient, a.gradient) < 1e-5);
  CHECK(b.counted.loss_sum
        == doctest::Approx(a.counted.loss_sum).epsilon(1e-6));
}

TEST_CASE("in 16 bits gradients are those of 32, but for rounding") {
  const auto text = toy_text(1, 300);
  for (const auto* model : {"albert", "gpt"}) {
    INFO(std::string{model});
    const auto settings = tiny_settings(model);
    small_run full(settings, text, 4);
    small_run half(settings, text, 4, "bf16");
    const auto parameters = draw_parameters(full.model->layout(), 3, 5);
    const auto wanted = accumulate(*full.model, {5, 0, 12, 1}, parameters);
    auto found = accumulate(*half.model, {5, 0, 12, 1}, parameters);
    half.model->collect(found.gradient.data());
    CHECK(found.counted.samples == 12);
    CHECK(found.counted.loss_sum
          == doctest::Approx(wanted.counted.loss_sum).epsilon(0.02));
    const auto apart = distance(found.gradient, wanted.gradient);
    CHECK(apart < 0.3);  // Of a gradient in another direction: 1 and more.
    CHECK(apart > 1e-5); // Or it would have been computed in 32.
  }
}

TEST_CASE("a graphics card computes the gradients that the processor does") {
  if (const auto problem = problem_with_device("cuda"); !problem.empty())
    return support::skip(problem);
  const auto text = toy_text(1, 300);
  for (const auto* model : {"albert", "gpt"})
    for (const auto* precision : {"float32", "bf16", "fp16"}) {
      INFO(std::string{model} << " in " << std::string{precision});
      const auto settings = tiny_settings(model);
      small_run full(settings, text, 4);
      small_run card(settings, text, 4, precision, "cuda");
      const auto parameters = draw_parameters(full.model->layout(), 3, 20);
      const auto wanted = accumulate(*full.model, {5, 0, 40, 1}, parameters);
      // In fp16 until the loss is scaled as it should be.
      for (int i = 0; i < 20; ++i)
        accumulate(*card.model, in_state(1, 0, 40), parameters);
      card.model->drop();
      auto found = accumulate(*card.model, in_state(1, 0, 12), parameters);
      const auto more
          = accumulate(*card.model, in_state(1, 12, 28), parameters);
      card.model->collect(found.gradient.data());
      CHECK(found.counted.samples + more.counted.samples == 40);
      CHECK(found.counted.loss_sum + more.counted.loss_sum
            == doctest::Approx(wanted.counted.loss_sum).epsilon(0.02));
      CHECK(distance(found.gradient, wanted.gradient)
            < (precision == std::string{"float32"} ? 1e-4 : 0.05));
    }
}

TEST_CASE("what is kept of gradients is handed over once") {
  small_run run(tiny_settings(), toy_text(1, 300), 4, "bf16");
  const auto parameters = draw_parameters(run.model->layout(), 3, 20);
  const auto first = accumulate(*run.model, {5, 0, 8, 1}, parameters);
  CHECK(first.gradient == vector(parameters.size()));
  accumulate(*run.model, {5, 8, 8, 1}, parameters);
  vector parts(parameters.size(), 1);
  run.model->collect(parts.data());
  const auto collected = parts;
  run.model->collect(parts.data());
  CHECK(parts == collected);

  accumulate(*run.model, {5, 0, 16, 1}, parameters);
  vector whole(parameters.size(), 1);
  run.model->collect(whole.data());
  CHECK(distance(parts, whole) < 1e-5);
  CHECK(distance(parts, vector(parameters.size(), 1)) > 1e-3);

  accumulate(*run.model, {5, 0, 16, 1}, parameters);
  run.model->drop();
  run.model->collect(whole.data());
  CHECK(distance(parts, whole) < 1e-5);
}

TEST_CASE("parameters are read again when their state is another") {
  small_run run(tiny_settings(), toy_text(1, 300), 4, "bf16");
  const auto ours = draw_parameters(run.model->layout(), 3, 20);
  const auto others = draw_parameters(run.model->layout(), 4, 20);
  auto loss = [&](const vector& at, std::uint64_t number) {
    return accumulate(*run.model, in_state(number, 0, 8), at).counted.loss_sum;
  };
  const auto of_ours = loss(ours, 7);
  const auto of_others = loss(others, 8);
  REQUIRE(of_ours != of_others);
  CHECK(loss(ours, 0) == of_ours); // Nothing is said about them.
  CHECK(loss(others, 0) == of_others);
  CHECK(loss(ours, 9) == of_ours);
  CHECK(loss(others, 9) == of_ours); // Said to be the same ones.
  // Whoever evaluates has others.
  run.model->evaluate(others.data(), 5, 4);
  CHECK(loss(ours, 9) == of_ours);
}

TEST_CASE("a cancelled request computes nothing more") {
  small_run run(tiny_settings(), toy_text(1, 300), 1);
  const auto parameters = draw_parameters(run.model->layout(), 3);
  vector gradient(parameters.size(), 0.5f);
  std::atomic<bool> cancelled{true};
  const auto none = run.model->accumulate({5, 0, 12, 1}, parameters.data(),
                                          gradient.data(), cancelled);
  CHECK(none.samples == 0);
  CHECK(none.loss_sum == 0);
  CHECK(gradient == vector(parameters.size(), 0.5f));

  // While it runs: far more samples than can be done before the flag is seen.
  cancelled = false;
  std::thread impatient([&] { cancelled = true; });
  const auto some = run.model->accumulate({5, 0, 1000000, 1}, parameters.data(),
                                          gradient.data(), cancelled);
  impatient.join();
  CHECK(some.samples < 1000000);
}

TEST_CASE("parameters are left as they were") {
  small_run run(tiny_settings(), toy_text(1, 300));
  const auto parameters = draw_parameters(run.model->layout(), 3);
  const auto copy = parameters;
  accumulate(*run.model, {5, 0, 4, 1}, parameters);
  run.model->evaluate(parameters.data(), 5, 4);
  CHECK(parameters == copy);
}

TEST_CASE("evaluation reports the loss that gradients descend") {
  small_run run(tiny_settings(), toy_text(1, 300));
  const auto parameters = draw_parameters(run.model->layout(), 3, 20);
  const auto computed = accumulate(*run.model, {9, 0, 20, 1}, parameters);
  const auto found = run.model->evaluate(parameters.data(), 9, 20);
  CHECK(found.samples == 20);
  CHECK(found.loss
        == doctest::Approx(computed.counted.loss_sum / 20).epsilon(1e-5));
  CHECK(found.accuracy >= 0);
  CHECK(found.accuracy <= 1);
  CHECK(run.model->evaluate(parameters.data(), 9, 0).samples == 0);
}

TEST_CASE("evaluation says what is lost by knowing the labels' frequencies "
          "alone") {
  // One word, or several, besides what a vocabulary is learnt from.
  const auto unigram_of = [](const std::string& line) {
    auto text = toy_text(1, 30);
    for (int i = 0; i < 3000; ++i)
      text += line;
    small_run run(tiny_settings(), text);
    const auto parameters = draw_parameters(run.model->layout(), 3);
    return run.model->evaluate(parameters.data(), 9, 50).unigram;
  };
  CHECK(unigram_of("mana mana mana mana\n") < 0.7);
  const auto mixed = unigram_of("mana tisu nemusa tisu\n");
  CHECK(mixed > 0.7);
  CHECK(mixed < std::log(60));
}

TEST_CASE("an untrained model is as unsure as its vocabulary is large") {
  small_run run(tiny_settings(), toy_text(1, 300));
  const auto parameters = draw_parameters(run.model->layout(), 3);
  const auto found = run.model->evaluate(parameters.data(), 9, 50);
  const auto vocabulary = number_in(run.agreed.settings(), "vocabulary");
  CHECK(found.loss == doctest::Approx(std::log(vocabulary)).epsilon(0.05));
}

TEST_CASE("gradient descent lowers the loss on real text") {
  const std::string licenses = "/usr/share/common-licenses";
  if (!std::filesystem::exists(licenses + "/GPL-3"))
    return support::skip("this machine has no " + licenses);
  auto text = read_corpus(licenses + "/GPL-3");
  REQUIRE(text);
  small_run run(settings_of("albert", {{"vocabulary", "200"},
                                       {"sequence-length", "18"},
                                       {"embedding-size", "16"},
                                       {"hidden-size", "32"},
                                       {"intermediate-size", "64"},
                                       {"layers", "2"},
                                       {"heads", "2"}}),
                *text);
  auto parameters = draw_parameters(run.model->layout(), 1);
  const auto before = run.model->evaluate(parameters.data(), 99, 200);
  const std::uint32_t batch = 32;
  for (std::uint64_t step = 0; step < 60; ++step) {
    const auto x
        = accumulate(*run.model, {1, step * batch, batch, 1}, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i] -= 0.5f / batch * x.gradient[i];
  }
  const auto after = run.model->evaluate(parameters.data(), 99, 200);
  INFO(before.loss << " before, " << after.loss << " after");
  CHECK(after.loss < before.loss - 0.3);
  CHECK(after.accuracy > before.accuracy);
}
