/// What a kind of expert computes, as functions over its parameters. Private to
/// this folder, since it includes LibTorch.
#pragma once

#include <vector>

#include <ATen/ATen.h>

#include "runtime/ports/expert_module.hpp"

namespace potluck {

/// Of an expert of this kind, x [samples, inputs] to [samples, outputs].
/// `parameters` are the entries of `expert_layout(kind)`, in their shapes.
///
/// "ffn" maps every token on its own: LayerNorm(x + W2 GELU(W1 x)). A
/// "transformer" is one encoder layer over a sample's tokens, with LayerNorm
/// behind each residual sum, as in models/albert; no mask, no dropout.
at::Tensor expert_outputs(const expert_kind& kind,
                          const std::vector<at::Tensor>& parameters,
                          const at::Tensor& x);

} // namespace potluck
