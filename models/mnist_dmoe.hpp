/// The classifier of handwritten digits that Learning@home was tried with
/// (Ryabinin and Gusev 2020, section 4.2): layers of decentralised mixtures of
/// experts between two linear maps.
///
/// input -> `layers` times x + mixture(LayerNorm(x)) -> LayerNorm -> scores of
/// ten classes. Private to this folder, since it includes LibTorch.
#pragma once

#include "models/expert_mixture.hpp"

namespace potluck {

class mnist_dmoe : public network {
public:
  /// Preconditions: `problem_with(settings)` and `problem_with_experts` are
  /// empty.
  mnist_dmoe(const run_settings& settings, const network_surroundings& around);

  network_output forward(const std::vector<at::Tensor>& parameters,
                         const labelled_batch& batch) const override;

private:
  std::vector<expert_mixture> mixtures_;
};

} // namespace potluck
