/// The loss of classifiers. Private to this folder, since it includes LibTorch.
#pragma once

#include "models/network.hpp"

namespace potluck {

/// Cross entropy of each label, weighed: its sum is the samples' losses. In an
/// evaluation also which labels have the highest score.
/// @param scores [M, classes] of every class for every label.
model_loss cross_entropy(const model_tensors& pass, const at::Tensor& scores,
                         const labelled_batch& batch,
                         at::Tensor regularizer = {});

} // namespace potluck
