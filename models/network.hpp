/// What a model is to the trainer: a layout and a forward pass. Private to this
/// folder, since it includes LibTorch.
#pragma once

#include <memory>
#include <vector>

#include <ATen/ATen.h>

#include "runtime/ports/expert_network.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

/// Samples as tensors, all on one device: B samples with M labels in all.
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

struct network_output {
  /// [M, classes]: the scores of every class for every label.
  at::Tensor scores;
  /// A scalar that is added to the *mean* loss of the batch's samples;
  /// undefined for none.
  at::Tensor regularizer;
};

/// A classifier of tokens or images as a function: it holds no parameters.
class network {
public:
  virtual ~network() = default;

  const model_layout& layout() const {
    return layout_;
  }

  /// `parameters` are the layout's entries, in order, in their shapes. May be
  /// called from several threads at once, each with a graph of its own. Throws
  /// `too_few_experts` when nothing can be computed without experts that do not
  /// answer now.
  virtual network_output forward(const std::vector<at::Tensor>& parameters,
                                 const labelled_batch& batch) const = 0;

protected:
  model_layout layout_; ///< Made by the constructor of whoever derives.
};

/// What a network may need beside its settings.
struct network_surroundings {
  std::shared_ptr<expert_network> experts; ///< May be null: the layout only.
};

} // namespace potluck
