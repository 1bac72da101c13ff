/// Names and shapes of ALBERT's tensors. Torch-free.
#pragma once

#include "runtime/state/charter.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

/// The state dict of Hugging Face's `AlbertForMaskedLM` in its order, without
/// `predictions.decoder`, which is tied to the word embeddings and to
/// `predictions.bias`. Initial values are theirs: deviation 0.02 for matrices,
/// 1 for LayerNorm's weights, 0 for biases.
model_layout albert_layout(const run_settings& settings);

} // namespace potluck
