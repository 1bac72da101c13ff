/// ALBERT (Lan et al. 2019) for masked language modelling: factorized
/// embeddings and one transformer layer that is applied again and again.
///
/// The computation is that of Hugging Face's `AlbertForMaskedLM` without
/// dropout and without padding: LayerNorm behind each residual sum, GELU by
/// tanh. The layout is the state dict of that model in its order, without
/// `predictions.decoder`, which is tied to the word embeddings and to
/// `predictions.bias`. Initial values are theirs: deviation 0.02 for matrices,
/// 1 for LayerNorm's weights, 0 for biases. Private to this folder, since it
/// includes LibTorch.
#pragma once

#include "models/network.hpp"

namespace potluck {

class albert : public network {
public:
  /// Precondition: `problem_with(settings)` is empty.
  explicit albert(const run_settings& settings);

  network_output forward(const std::vector<at::Tensor>& parameters,
                         const labelled_batch& batch) const override;

private:
  std::int64_t layers_;
  std::int64_t heads_;
};

} // namespace potluck
