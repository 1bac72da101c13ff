#include "tools/lab/sim/simulated_model.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace potluck;

namespace {

constexpr std::size_t values = 100;
constexpr std::uint32_t chunk = 32;
const std::atomic<bool> go_on{false};

batch_request batch(std::uint64_t first, std::uint32_t samples) {
  batch_request x;
  x.order_seed = 5;
  x.first_sample = first;
  x.samples = samples;
  return x;
}

} // namespace

TEST_CASE("the first value of each chunk counts the samples") {
  for (bool weightless : {false, true}) {
    simulated_model model{values, chunk, weightless};
    std::vector<float> parameters(values), gradient(values);
    CHECK(
        model.accumulate(batch(0, 7), parameters.data(), gradient.data(), go_on)
            .samples
        == 7);
    model.accumulate(batch(7, 4), parameters.data(), gradient.data(), go_on);
    for (std::size_t i = 0; i < values; i += chunk)
      CHECK(gradient[i] == 11);
    CHECK(tally_is_right(gradient[0] * (1.0f / 11)));
    CHECK_FALSE(tally_is_right(gradient[0] / 10));
    CHECK(tally_is_right(1.005f, true));
    CHECK_FALSE(tally_is_right(1.005f));
    CHECK_FALSE(tally_is_right(1.1f, true));
  }
}

TEST_CASE(
    "a gradient does not depend on how its samples are cut into batches") {
  simulated_model model{values, chunk};
  std::vector<float> parameters(values, 0.5f), whole(values), parts(values);
  model.accumulate(batch(0, 8), parameters.data(), whole.data(), go_on);
  model.accumulate(batch(0, 3), parameters.data(), parts.data(), go_on);
  model.accumulate(batch(3, 5), parameters.data(), parts.data(), go_on);
  CHECK(whole == parts);
}

TEST_CASE("gradient descent lowers the loss") {
  simulated_model model{values, chunk};
  std::vector<float> parameters(values);
  auto before = model.evaluate(parameters.data(), 9, 50).loss;
  for (int i = 0; i < 50; ++i) {
    std::vector<float> gradient(values);
    model.accumulate(batch(0, 64), parameters.data(), gradient.data(), go_on);
    for (std::size_t j = 0; j < values; ++j)
      if (j % chunk != 0)
        parameters[j] -= 0.5f * gradient[j] / 64;
  }
  CHECK(model.evaluate(parameters.data(), 9, 50).loss < before / 2);
}

TEST_CASE("a cancelled batch says how many samples it has") {
  simulated_model model{values, chunk};
  std::vector<float> parameters(values), gradient(values);
  const std::atomic<bool> stop{true};
  CHECK(model.accumulate(batch(0, 7), parameters.data(), gradient.data(), stop)
            .samples
        == 0);
  CHECK(gradient[0] == 0);
}

TEST_CASE("a model without values is refused") {
  CHECK_THROWS(simulated_model(0, chunk));
  CHECK_THROWS(simulated_model(values, 0));
}
