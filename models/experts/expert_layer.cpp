#include "models/experts/expert_layer.hpp"

#include <stdexcept>

#include "models/building_blocks.hpp"

namespace potluck {

at::Tensor expert_outputs(const expert_kind& kind,
                          const std::vector<at::Tensor>& parameters,
                          const at::Tensor& x) {
  std::size_t at = 0;
  auto take = [&] {
    affine result{parameters.at(at), parameters.at(at + 1)};
    at += 2;
    return result;
  };
  auto samples = x.size(0);
  auto y = x.view({-1, kind.hidden}); // One row a token.
  if (kind.layer == "transformer") {
    auto qkv = take();
    auto dense = take();
    auto norm = take();
    y = normalize(norm, y + apply(dense, attend(qkv, y, samples, kind.heads)));
  }
  auto ffn = take();
  auto ffn_output = take();
  auto norm = take();
  if (at != parameters.size())
    throw std::logic_error("an expert's layout and its computation differ");
  y = normalize(norm, y + apply(ffn_output, activate(apply(ffn, y))));
  return y.view({samples, -1});
}

} // namespace potluck
