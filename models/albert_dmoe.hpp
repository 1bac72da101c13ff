/// A masked language model whose attention is averaged among trainers and whose
/// feed-forward parts are experts on other machines: ALBERT (models/albert)
/// with a decentralised mixture of experts for each token, one in every layer.
///
/// Private to this folder, since it includes LibTorch.
#pragma once

#include "models/expert_mixture.hpp"

namespace potluck {

class albert_dmoe : public network {
public:
  /// Preconditions: `problem_with(settings)` and `problem_with_experts` are
  /// empty.
  albert_dmoe(const run_settings& settings, const network_surroundings& around);

  network_output forward(const std::vector<at::Tensor>& parameters,
                         const labelled_batch& batch) const override;

private:
  std::vector<expert_mixture> mixtures_;
  std::int64_t heads_;
};

} // namespace potluck
