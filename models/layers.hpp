/// Layers that networks share, as functions of tensors. Private to this folder,
/// since it includes LibTorch.
#pragma once

#include <string>

#include <ATen/ATen.h>

#include "models/model_tensors.hpp"
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

/// Each value is zero with this probability, the others are larger for it
/// (Srivastava et al. 2014); in training only.
at::Tensor dropout(const model_tensors& pass, const at::Tensor& x,
                   double probability);

/// Batch norm (Ioffe and Szegedy 2015) over x [B, channels, ...], in float32,
/// as PyTorch has it: by the micro-batch's own means in training, which change
/// the running ones by `momentum`. By the running ones in an evaluation, and
/// where a channel has one value only.
at::Tensor batch_norm(const model_tensors& pass, const std::string& name,
                      const at::Tensor& x, double momentum = 0.1,
                      double epsilon = 1e-5);

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
  /// What `potluck::batch_norm` reads, with its running means.
  void batch_norm(model_layout& buffers, const std::string& name,
                  std::int64_t channels) const;
};

} // namespace potluck
