/// What a model is to the trainer: a layout and a forward pass. Private to this
/// folder, since it includes LibTorch.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <ATen/ATen.h>

#include "runtime/state/charter.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

/// Masked samples as tensors, all on one device. B samples of S tokens, of
/// which M were chosen in all.
struct masked_batch {
  at::Tensor tokens;    ///< [B, S] int64
  at::Tensor positions; ///< [M] int64, into the B * S tokens.
  at::Tensor labels;    ///< [M] int64
  at::Tensor weights;   ///< [M] float32: one over its sample's chosen tokens.
};

/// A masked language model as a function: it holds no parameters.
class network {
public:
  virtual ~network() = default;

  virtual const model_layout& layout() const = 0;

  /// The scores [M, vocabulary] of every token at the chosen positions.
  /// `parameters` are the layout's entries, in order, in their shapes.
  virtual at::Tensor scores(const std::vector<at::Tensor>& parameters,
                            const masked_batch& batch) const = 0;
};

using network_builder
    = std::function<std::unique_ptr<network>(const run_settings&)>;

} // namespace potluck
