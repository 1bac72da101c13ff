/// A layer whose experts live on other people's machines (Ryabinin and Gusev
/// 2020), to be used as torch::nn::Linear is:
///
///     potluck::moe_options how;            // layer "ffn" on a 16x16 grid
///     how.inputs = 64;
///     auto experts = std::make_shared<potluck::expert_client>();
///     torch::nn::Sequential model(torch::nn::Linear(10, 64),
///                                 potluck::decentralized_moe(how, experts),
///                                 torch::nn::Linear(64, 2));
///
/// Only the gating function is the caller's to train; experts train themselves
/// when a backward pass reaches them.
///
/// Includes LibTorch, being for programs that use it: link both
/// `potluck::models` and LibTorch. All calls block while they wait, and may
/// come from any number of threads at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "models/moe/too_few_experts.hpp"
#include "runtime/experts/expert_memory.hpp"
#include "runtime/ports/expert_network.hpp"

namespace potluck {

struct moe_options {
  /// What the experts' uids begin with: a layer's name, perhaps with some
  /// coordinates ("ffn.2", so that one pattern of uids means several layers).
  std::string layer = "ffn";
  /// Coordinates of each dimension: 1 to 4 dimensions of 1 to 256.
  std::vector<std::uint32_t> grid{16, 16};
  std::int64_t inputs = 1024; ///< Values of a sample.
  std::int64_t outputs = 0;   ///< 0: as inputs.
  std::uint32_t k = 4;        ///< Experts asked for each sample.
  std::uint32_t k_min = 1;    ///< Answers without which a sample is lost.
  /// Prefixes that the search follows for each sample; 0: k.
  std::uint32_t beam = 0;
  /// For each pass, and for the search.
  std::chrono::milliseconds patience{30'000};
  /// Who has not answered so long after a sample had `k_min` is left out.
  std::chrono::milliseconds timeout_after_k_min{1'000};
  /// How inputs, outputs and gradients travel; what is lost is told in
  /// runtime/packing/README.md.
  packing call_packing = packing::float32;
  /// Samples with fewer answers are zero, instead of an exception; but if no
  /// sample has more, there is one all the same.
  bool zero_when_too_few = false;
  /// What prefixes lead to, and who fails. Copies of these options share it;
  /// layers of another network need another one.
  std::shared_ptr<expert_memory> known = std::make_shared<expert_memory>();
};

struct moe_output {
  /// [..., outputs]
  at::Tensor values;
  /// A differentiable scalar: how unevenly experts are used. Add about a
  /// hundredth of it to the loss. For each dimension of n living coordinates n
  /// sum_c f_c p_c, the mean over dimensions, where f is the share of calls and
  /// p the mean probability (Fedus et al. 2021, equations 4 to 6): 1 when all
  /// are used alike, up to n when one is used alone. Zero when nobody lives.
  at::Tensor balance_loss;
};

/// Mixes the k best living experts of each sample: the mean of their outputs,
/// weighted with the softmax of their scores over those that answered.
///
/// A pure function, so parameters may be views of one flat vector. `gating`
/// holds a weight [grid[i], inputs] and a bias [grid[i]] for each dimension, in
/// this order. Differentiable once, in `input` and `gating`. An expert that
/// fails in the backward pass contributes nothing to the gradient of `input`
/// and learns nothing; the gradient of `gating` needs the forward pass' outputs
/// only, so it stays exact.
///
/// @param network Must live until the last backward pass.
/// @param input [..., inputs] float32, finite.
/// Throws std::invalid_argument with a sentence on wrong input, gating or
/// options, and too_few_experts.
moe_output mix_experts(const moe_options& options, expert_network& network,
                       const std::vector<at::Tensor>& gating,
                       const at::Tensor& input);

/// The layer as a module; its parameters are the gating function: `weight0`,
/// `bias0`, `weight1`, ... Clones share network and cache.
class decentralized_moeImpl
    : public torch::nn::Cloneable<decentralized_moeImpl> {
public:
  /// Throws std::invalid_argument with a sentence on wrong options.
  decentralized_moeImpl(moe_options options,
                        std::shared_ptr<expert_network> network);

  /// Draws new parameters, as torch::nn::Linear does.
  void reset() override;

  /// The values alone: [..., inputs] to [..., outputs].
  torch::Tensor forward(const torch::Tensor& input);
  /// With the loss that keeps experts evenly used.
  moe_output mix(const torch::Tensor& input);

  const moe_options& options() const {
    return options_;
  }

private:
  moe_options options_;
  std::shared_ptr<expert_network> network_;
  std::vector<torch::Tensor> gating_;
};
TORCH_MODULE(decentralized_moe);

struct remote_expert_options {
  std::string uid; ///< "ffn.3.12"
  std::int64_t inputs = 1024;
  std::int64_t outputs = 0; ///< 0: as inputs.
  std::chrono::milliseconds patience{30'000};
  packing call_packing = packing::float32; ///< As in moe_options.
};

/// One expert elsewhere as a module without parameters. Passes throw
/// std::runtime_error with the reason when it fails.
class remote_expertImpl : public torch::nn::Cloneable<remote_expertImpl> {
public:
  /// Throws std::invalid_argument with a sentence on wrong options.
  remote_expertImpl(remote_expert_options options,
                    std::shared_ptr<expert_network> network);

  void reset() override {
  }

  /// [..., inputs] to [..., outputs].
  torch::Tensor forward(const torch::Tensor& input);

private:
  remote_expert_options options_;
  std::shared_ptr<expert_network> network_;
};
TORCH_MODULE(remote_expert);

} // namespace potluck
