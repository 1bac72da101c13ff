#include "models/layers.hpp"

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
