#include "models/layers.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <torch/version.h>

namespace potluck {

namespace {

/// All [B, heads, S, width].
at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value) {
#if TORCH_VERSION_MAJOR >= 2
  return at::scaled_dot_product_attention(query, key, value, {}, 0, true);
#else
  const auto length = query.size(2);
  const auto later
      = at::ones({length, length}, query.options().dtype(at::kBool)).triu(1);
  const auto scaled = query / std::sqrt(static_cast<double>(query.size(3)));
  const auto scores
      = at::matmul(scaled, key.transpose(2, 3))
            .masked_fill(later, -std::numeric_limits<double>::infinity());
  return at::matmul(at::softmax(scores, -1), value);
#endif
}

} // namespace

at::Tensor apply(const affine& map, const at::Tensor& x) {
  return at::linear(x, map.weight, map.bias);
}

at::Tensor normalize(const affine& norm, const at::Tensor& x, double epsilon) {
  return at::layer_norm(x.to(at::kFloat), {x.size(-1)}, norm.weight, norm.bias,
                        epsilon);
}

at::Tensor activate(const at::Tensor& x) {
  return at::gelu(x, "tanh");
}

at::Tensor attend(const affine& qkv, const at::Tensor& x, std::int64_t batch,
                  std::int64_t heads) {
  const auto length = x.size(0) / batch;
  const auto width = x.size(1) / heads;
  // [3, B * heads, S, width]
  const auto parts = apply(qkv, x)
                         .view({batch, length, 3, heads, width})
                         .permute({2, 0, 3, 1, 4})
                         .contiguous()
                         .view({3, batch * heads, length, width})
                         .unbind(0);
  const auto scaled = parts[0] / std::sqrt(static_cast<double>(width));
  const auto weights
      = at::softmax(at::bmm(scaled, parts[1].transpose(1, 2)), -1);
  return at::bmm(weights, parts[2])
      .view({batch, heads, length, width})
      .permute({0, 2, 1, 3})
      .reshape({batch * length, heads * width});
}

at::Tensor attend_to_earlier(const at::Tensor& qkv, std::int64_t batch,
                             std::int64_t heads) {
  const auto length = qkv.size(0) / batch;
  const auto hidden = qkv.size(1) / 3;
  // Split, not permuted: then the gradients' way back is one copy, not two.
  auto parts = qkv.view({batch, length, 3 * hidden}).split(hidden, 2);
  for (auto& part : parts)
    part = part.view({batch, length, heads, hidden / heads}).transpose(1, 2);
  return causal_attention(parts[0], parts[1], parts[2])
      .transpose(1, 2)
      .reshape({batch * length, hidden});
}

at::Tensor dropout(const model_tensors& pass, const at::Tensor& x,
                   double probability) {
  if (!pass.training() || probability == 0)
    return x;
  const auto kept = at::empty(x.sizes(), x.options().dtype(at::kFloat))
                        .bernoulli_(1 - probability, pass.generator(x.device()))
                        .div_(1 - probability);
  return x * kept.to(x.scalar_type());
}

at::Tensor batch_norm(const model_tensors& pass, const std::string& name,
                      const at::Tensor& x, double momentum, double epsilon) {
  const bool by_itself = pass.training() && x.numel() > x.size(1);
  return at::batch_norm(x.to(at::kFloat), pass[name + ".weight"],
                        pass[name + ".bias"], pass[name + ".running_mean"],
                        pass[name + ".running_var"], by_itself, momentum,
                        epsilon, /*cudnn_enabled=*/true);
}

at::Tensor parameter_reader::tensor() {
  if (at_ == parameters_.size())
    throw std::logic_error("a network reads more tensors than its layout has");
  return parameters_[at_++];
}

affine parameter_reader::pair() {
  affine x;
  x.weight = tensor();
  x.bias = tensor();
  return x;
}

void parameter_reader::finish() const {
  if (at_ != parameters_.size())
    throw std::logic_error("a network reads fewer tensors than its layout has");
}

float fan_in_deviation(std::uint32_t inputs) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(inputs)));
}

void layout_section::matrix(const std::string& name, std::int64_t rows,
                            std::int64_t columns) const {
  layout.add(prefix + name + ".weight", {rows, columns}, true, 0, deviation);
}

void layout_section::linear(const std::string& name, std::int64_t out,
                            std::int64_t in) const {
  matrix(name, out, in);
  layout.add(prefix + name + ".bias", {out}, false, 0, 0);
}

void layout_section::batch_norm(model_layout& buffers, const std::string& name,
                                std::int64_t channels) const {
  layer_norm(name, channels);
  buffers.add_buffer(prefix + name + ".running_mean", {channels}, 0);
  buffers.add_buffer(prefix + name + ".running_var", {channels}, 1);
}

void layout_section::layer_norm(const std::string& name,
                                std::int64_t size) const {
  layout.add(prefix + name + ".weight", {size}, false, 1, 0);
  layout.add(prefix + name + ".bias", {size}, false, 0, 0);
}

} // namespace potluck
