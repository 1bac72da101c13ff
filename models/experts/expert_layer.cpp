#include "models/experts/expert_layer.hpp"

#include "models/layers.hpp"

namespace potluck {

at::Tensor expert_outputs(const expert_kind& kind,
                          const std::vector<at::Tensor>& parameters,
                          const at::Tensor& x) {
  parameter_reader next(parameters);
  auto samples = x.size(0);
  auto y = x.view({-1, kind.hidden}); // One row a token.
  if (kind.layer == "transformer") {
    auto qkv = next.pair();
    auto dense = next.pair();
    auto norm = next.pair();
    y = normalize(norm, y + apply(dense, attend(qkv, y, samples, kind.heads)));
  }
  auto ffn = next.pair();
  auto ffn_output = next.pair();
  auto norm = next.pair();
  next.finish();
  y = normalize(norm, y + apply(ffn_output, activate(apply(ffn, y))));
  return y.view({samples, -1});
}

} // namespace potluck
