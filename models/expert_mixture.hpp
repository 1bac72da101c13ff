/// The decentralised mixture of experts as a layer of a network whose
/// parameters are others': gates from the layout, experts from the run's
/// settings. Private to this folder, since it includes LibTorch.
#pragma once

#include <memory>

#include "models/layers.hpp"
#include "models/moe/decentralized_moe.hpp"
#include "models/network.hpp"
#include "runtime/experts/expert_settings.hpp"

namespace potluck {

/// One such layer. Its experts are EXPERTS.LAYER.I.J..., each of the run's
/// hidden size in and out.
class expert_mixture {
public:
  /// @param layer Its number in the network, from 0.
  expert_mixture(const kind_settings& settings, std::uint32_t layer,
                 std::shared_ptr<expert_network> experts);

  /// The gates' tensors: "mixtures.LAYER.gates.DIMENSION".
  void add_to(model_layout& layout) const;

  /// x [N, hidden] plus what its experts make of LayerNorm(x), which is nothing
  /// for rows that no expert answers. Adds the balance loss to `balance`.
  ///
  /// Throws `too_few_experts` when no row gets an answer.
  at::Tensor operator()(parameter_reader& next, const at::Tensor& x,
                        at::Tensor& balance) const;

private:
  moe_options options_;
  std::uint32_t layer_;
  std::shared_ptr<expert_network> experts_;
};

/// A sentence when the settings, which are those of experts and hidden-size and
/// layers beside, describe no such layers; empty when they do.
std::string problem_with_mixtures(const kind_settings& settings);

} // namespace potluck
