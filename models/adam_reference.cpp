#include "models/adam_reference.hpp"

#include <algorithm>
#include <chrono>

#include <torch/torch.h>

namespace potluck {

std::vector<double> time_adam(std::uint64_t values, std::uint64_t tensor_values,
                              unsigned threads, unsigned steps) {
  auto before = torch::get_num_threads();
  torch::set_num_threads(static_cast<int>(threads));
  std::vector<torch::Tensor> parameters;
  for (std::uint64_t done = 0; done < values; done += tensor_values) {
    auto size
        = static_cast<std::int64_t>(std::min(tensor_values, values - done));
    auto x = torch::full({size}, 0.1, torch::requires_grad());
    x.mutable_grad() = torch::full({size}, 0.01);
    parameters.push_back(std::move(x));
  }
  torch::optim::Adam adam{parameters, torch::optim::AdamOptions{0.001}};
  std::vector<double> result;
  for (unsigned i = 0; i <= steps; ++i) {
    auto began = std::chrono::steady_clock::now();
    adam.step();
    if (i > 0) // The first makes the moments.
      result.push_back(std::chrono::duration<double>(
                           std::chrono::steady_clock::now() - began)
                           .count());
  }
  torch::set_num_threads(before);
  return result;
}

} // namespace potluck
