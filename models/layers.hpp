/// Layers that networks share, as functions of tensors. Private to this folder,
/// since it includes LibTorch.
#pragma once

#include <string>

#include <ATen/ATen.h>

#include "runtime/state/model_layout.hpp"

namespace potluck {

/// Weight and bias, of a linear map or of a LayerNorm.
struct affine {
  at::Tensor weight;
  at::Tensor bias;
};

at::Tensor apply(const affine& map, const at::Tensor& x);

/// LayerNorm over the last dimension, in float32 whatever x is.
at::Tensor normalize(const affine& norm, const at::Tensor& x,
                     double epsilon = 1e-12);

/// GELU by its tanh form.
at::Tensor activate(const at::Tensor& x);

/// Self-attention over x [B * S, hidden], B samples of S tokens; `qkv` stacks
/// query, key and value. Returns [B * S, hidden], before the output's map.
at::Tensor attend(const affine& qkv, const at::Tensor& x, std::int64_t batch,
                  std::int64_t heads);

/// The same in which a token sees those before it and itself only; `qkv` are
/// query, key and value [B * S, 3 * hidden].
at::Tensor attend_to_earlier(const at::Tensor& qkv, std::int64_t batch,
                             std::int64_t heads);

/// Reads a network's parameters one after the other, in the layout's order.
/// Throws std::logic_error when there are fewer than are read.
class parameter_reader {
public:
  explicit parameter_reader(const std::vector<at::Tensor>& parameters)
      : parameters_(parameters) {
  }

  at::Tensor tensor();
  affine pair();
  /// Throws std::logic_error when parameters are left.
  void finish() const;

private:
  const std::vector<at::Tensor>& parameters_;
  std::size_t at_ = 0;
};

/// Of the initial values of a matrix that many inputs go into: one over their
/// number's root.
float fan_in_deviation(std::uint32_t inputs);

/// Adds tensors below one prefix to a layout.
struct layout_section {
  model_layout& layout;
  std::string prefix;
  /// Of a matrix's initial values, where none is named.
  float deviation = 0.02f;

  void matrix(const std::string& name, std::int64_t rows,
              std::int64_t columns) const;
  void linear(const std::string& name, std::int64_t out, std::int64_t in) const;
  void layer_norm(const std::string& name, std::int64_t size) const;
};

} // namespace potluck
