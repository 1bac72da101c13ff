/// ALBERT (Lan et al. 2019) for masked language modelling: factorized
/// embeddings and one transformer layer that is applied again and again.
///
/// The computation is that of Hugging Face's `AlbertForMaskedLM` without
/// dropout and without padding: LayerNorm behind each residual sum, GELU by
/// tanh. Private to this folder, since it includes LibTorch.
#pragma once

#include "models/network.hpp"

namespace potluck {

class albert : public network {
public:
  /// Precondition: `problem_with(settings)` is empty.
  explicit albert(const run_settings& settings);

  const model_layout& layout() const override {
    return layout_;
  }
  at::Tensor scores(const std::vector<at::Tensor>& parameters,
                    const masked_batch& batch) const override;

private:
  model_layout layout_;
  std::int64_t layers_;
  std::int64_t heads_;
};

} // namespace potluck
