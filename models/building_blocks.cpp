#include "models/building_blocks.hpp"

#include <cmath>

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
  // [3, B, heads, S, width]
  auto split = apply(qkv, x)
                   .view({batch, length, 3, heads, width})
                   .permute({2, 0, 3, 1, 4})
                   .contiguous()
                   .view({3, batch * heads, length, width});
  auto parts = split.unbind(0);
  auto scaled = parts[0] / std::sqrt(static_cast<double>(width));
  auto weights = at::softmax(at::bmm(scaled, parts[1].transpose(1, 2)), -1);
  return at::bmm(weights, parts[2])
      .view({batch, heads, length, width})
      .permute({0, 2, 1, 3})
      .reshape({batch * length, heads * width});
}

} // namespace potluck
