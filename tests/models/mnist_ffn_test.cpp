#include <doctest/doctest.h>

#include <atomic>
#include <cmath>

#include "tests/models/fixture.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

run_settings small_network() {
  return settings_of(
      "mnist-ffn",
      {{"hidden-size", "16"}, {"intermediate-size", "24"}, {"layers", "2"}});
}

std::unique_ptr<trainer> open(const run_settings& settings) {
  auto agreed = propose_charter(settings, "digits");
  if (!agreed)
    throw std::runtime_error(agreed.error());
  trainer_options options;
  options.data_path = "digits";
  options.device = "cpu";
  options.threads = 1;
  return make_trainer_factory(options)(*agreed);
}

} // namespace

TEST_CASE("a network of images needs no tokenizer") {
  auto agreed = propose_charter(small_network(), "digits");
  REQUIRE_MESSAGE(agreed, agreed.error());
  CHECK(agreed->tokenizer().empty());
  CHECK(charter::from_bytes(agreed->to_bytes()));
  CHECK(problem_with_data("mnist-ffn", "digits") == "");
  CHECK(problem_with_data("", "digits") == "");
  CHECK(problem_with_data("albert", "digits") != "");
  CHECK(problem_with_data("mnist-ffn", "/nowhere") != "");
  CHECK(problem_with_data("", "/nowhere") != "");
}

TEST_CASE("an image network's gradient is the slope of its loss") {
  auto model = open(small_network());
  auto parameters = draw_parameters(model->layout(), 3);
  const auto values = parameters.size();
  std::vector<float> gradient(values);
  const std::atomic<bool> never{false};
  const batch_request request{5, 0, 32, 1};
  model->accumulate(request, parameters.data(), gradient.data(), never);
  // Along the gradient itself, where the slope is steepest.
  double length = 0;
  for (auto x : gradient)
    length += double{x} * x;
  length = std::sqrt(length);
  auto loss_at = [&](double distance) {
    auto moved = parameters;
    for (std::size_t i = 0; i < values; ++i)
      moved[i] += static_cast<float>(distance * gradient[i] / length);
    std::vector<float> ignored(values);
    return model->accumulate(request, moved.data(), ignored.data(), never)
        .loss_sum;
  };
  const auto h = 0.01;
  CHECK((loss_at(h) - loss_at(-h)) / (2 * h)
        == doctest::Approx(length).epsilon(0.02));
}

TEST_CASE("plain descent learns drawn digits that it has not seen") {
  auto model = open(small_network());
  auto parameters = draw_parameters(model->layout(), 3);
  const std::atomic<bool> never{false};
  const auto before = model->evaluate(parameters.data(), 1, 500);
  for (std::uint64_t step = 0; step < 150; ++step) {
    std::vector<float> gradient(parameters.size());
    model->accumulate({5, step * 64, 64, 1}, parameters.data(), gradient.data(),
                      never);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i] -= 0.2f * gradient[i] / 64;
  }
  const auto after = model->evaluate(parameters.data(), 1, 500);
  CHECK(before.accuracy < 0.3);
  CHECK(after.accuracy > 0.7);
  CHECK(after.loss < before.loss);
}
