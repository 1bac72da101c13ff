/// The rules against LibTorch's own optimizers.
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <torch/torch.h>

#include "runtime/optimizer/optimizer.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

using torch_optimizer = std::unique_ptr<torch::optim::Optimizer>;

struct trial {
  std::string name;
  std::map<std::string, std::string> numbers;
  std::function<torch_optimizer(std::vector<torch::Tensor>, double)> make;
};

trial sgd(double momentum, bool nesterov, double decay) {
  return {"sgd",
          {{"momentum", print_real(momentum)},
           {"nesterov", nesterov ? "yes" : "no"},
           {"weight-decay", print_real(decay)}},
          [=](std::vector<torch::Tensor> x, double rate) {
            return std::make_unique<torch::optim::SGD>(
                std::move(x), torch::optim::SGDOptions{rate}
                                  .momentum(momentum)
                                  .nesterov(nesterov)
                                  .weight_decay(decay));
          }};
}

trial adam(double decay) {
  return {"adam",
          {{"beta1", "0.8"},
           {"beta2", "0.98"},
           {"weight-decay", print_real(decay)}},
          [=](std::vector<torch::Tensor> x, double rate) {
            return std::make_unique<torch::optim::Adam>(
                std::move(x), torch::optim::AdamOptions{rate}
                                  .betas({0.8, 0.98})
                                  .weight_decay(decay));
          }};
}

trial adamw(double decay) {
  return {"adamw",
          {{"weight-decay", print_real(decay)}},
          [=](std::vector<torch::Tensor> x, double rate) {
            return std::make_unique<torch::optim::AdamW>(
                std::move(x),
                torch::optim::AdamWOptions{rate}.weight_decay(decay));
          }};
}

std::vector<trial> trials() {
  return {sgd(0, false, 0),
          sgd(0.9, false, 0),
          sgd(0.9, false, 0.1),
          sgd(0.9, true, 0.01),
          adam(0),
          adam(0.1),
          adamw(0.01),
          adamw(1)};
}

constexpr std::int64_t values = 10'000;

std::vector<float> noise(std::uint64_t seed, double size) {
  random_stream chance(seed);
  std::vector<float> x;
  for (std::int64_t i = 0; i < values; ++i)
    x.push_back(static_cast<float>(size * (2 * chance.uniform01() - 1)));
  return x;
}

torch::Tensor tensor_of(std::vector<float>& x) {
  return torch::from_blob(x.data(), {values}, torch::kFloat).clone();
}

double distance(const std::vector<float>& a, const torch::Tensor& b) {
  auto copy = a;
  return (tensor_of(copy) - b).to(torch::kDouble).norm().item<double>();
}

/// Ours and LibTorch's from one start, by the same gradients.
/// @returns The distance after `steps`, over how far LibTorch's has moved, and
/// over the parameters' own length.
std::pair<double, double> drift(const trial& what, int steps) {
  model_layout layout;
  layout.add("weight", {values}, true, 0, 0);
  auto x = noise(1, 0.1);
  std::vector<float> m(values), v(values);
  optimizer ours{unwrap(make_rule(what.name, what.numbers)), layout, {}};
  const auto start = tensor_of(x);
  auto theirs = start.clone().requires_grad_(true);
  const auto rate = 1e-3;
  auto reference = what.make({theirs}, rate);
  for (int step = 1; step <= steps; ++step) {
    auto gradient = noise(static_cast<std::uint64_t>(100 + step), 1);
    REQUIRE(ours.apply({x.data(), m.data(), v.data()}, gradient.data(),
                       static_cast<std::uint64_t>(step), rate)
            == optimizer::verdict::applied);
    theirs.mutable_grad() = tensor_of(gradient);
    reference->step();
  }
  const torch::NoGradGuard no_recording;
  const auto apart = distance(x, theirs);
  return {apart / (theirs - start).norm().item<double>(),
          apart / theirs.norm().item<double>()};
}

} // namespace

TEST_CASE("an update is LibTorch's to a millionth") {
  for (const auto& x : trials()) {
    CAPTURE(x.name);
    CHECK(drift(x, 1).second < 1e-6);
  }
}

TEST_CASE("a hundred updates end where LibTorch's do") {
  for (const auto& x : trials()) {
    CAPTURE(x.name);
    CHECK(drift(x, 100).first < 1e-4);
  }
}
