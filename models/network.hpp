/// What a model is to the trainer: named tensors, and a loss of samples.
/// Private to this folder, since it includes LibTorch.
#pragma once

#include <memory>

#include <ATen/ATen.h>

#include "models/model_tensors.hpp"
#include "runtime/ports/expert_network.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

/// Samples as tensors, all on one device: B samples, and often M labels in all.
/// What the tensors hold is between a model and its source; these are ours.
struct labelled_batch {
  /// [B, S] int64, a text's tokens; or [B, V] float32, an image's pixels from 0
  /// to 1.
  at::Tensor inputs;
  /// [M] int64, into the B * S tokens: where the labels belong. Undefined where
  /// every token has one, or every image.
  at::Tensor positions;
  at::Tensor labels;  ///< [M] int64
  at::Tensor weights; ///< [M] float32: one over its sample's labels.
};

struct model_loss {
  /// A scalar: the sum of the samples' losses, which `trainer` reports.
  at::Tensor sum;
  /// A scalar that is added to the *mean* loss of the batch's samples;
  /// undefined for none.
  at::Tensor regularizer;
  /// Whether each prediction is right: the accuracy of an evaluation. Undefined
  /// in training, and for models without such a measure.
  at::Tensor right;
};

/// A model as a function: it holds no parameters, and no state.
class network {
public:
  virtual ~network() = default;

  /// What the run averages: the parameters; behind them the buffers, where the
  /// run averages those.
  const model_layout& layout() const {
    return layout_;
  }
  /// What a pass changes although no gradient leads to it, such as the running
  /// means of batch norm: the peer's own, or averaged with the parameters.
  const model_layout& buffers() const {
    return buffers_;
  }
  /// Makes the buffers tensors of the run.
  void average_buffers() {
    for (const auto& x : buffers_.entries())
      layout_.add_buffer(x.name, x.shape, x.initial_mean);
  }

  /// The loss of these samples. The tensors are the parameters, in the layout's
  /// order and shapes, and behind them the buffers: in training copies, which
  /// the loss changes in place. May be called from several threads at once,
  /// each with a graph of its own. Throws `too_few_experts` when nothing can be
  /// computed without experts that do not answer now.
  virtual model_loss loss(const model_tensors& parameters,
                          const labelled_batch& batch) const = 0;

protected:
  // Made by the constructor of whoever derives.
  model_layout layout_;
  model_layout buffers_; ///< Their `initial_mean` is what they begin with.
};

/// What a network may need beside its settings.
struct network_surroundings {
  std::shared_ptr<expert_network> experts; ///< May be null: the layout only.
};

} // namespace potluck
