#include "models/layers.hpp"

#include <cmath>
#include <stdexcept>

namespace potluck {

at::Tensor apply(const affine& map, const at::Tensor& x) {
  return at::linear(x, map.weight, map.bias);
}

at::Tensor normalize(const affine& norm, const at::Tensor& x) {
  return at::layer_norm(x, {x.size(-1)}, norm.weight, norm.bias, 1e-12);
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

void layout_section::layer_norm(const std::string& name,
                                std::int64_t size) const {
  layout.add(prefix + name + ".weight", {size}, false, 1, 0);
  layout.add(prefix + name + ".bias", {size}, false, 0, 0);
}

} // namespace potluck
