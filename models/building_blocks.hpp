/// What transformers of this folder are made of, as functions over tensors.
/// Private to this folder, since it includes LibTorch.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

namespace potluck {

/// Weight and bias, of a linear map or of a LayerNorm.
struct affine {
  at::Tensor weight;
  at::Tensor bias;
};

at::Tensor apply(const affine& map, const at::Tensor& x);

/// LayerNorm over the last dimension, epsilon 1e-12.
at::Tensor normalize(const affine& norm, const at::Tensor& x);

/// GELU by its tanh form.
at::Tensor activate(const at::Tensor& x);

/// Self-attention over x [B * S, H], B samples of S tokens. The three inputs go
/// through one product: `qkv` [3 H, H] is query, key and value stacked. Returns
/// [B * S, H], before the output's linear map.
at::Tensor attend(const affine& qkv, const at::Tensor& x, std::int64_t batch,
                  std::int64_t heads);

} // namespace potluck
