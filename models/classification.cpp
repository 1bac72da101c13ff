#include "models/classification.hpp"

namespace potluck {

model_loss cross_entropy(const model_tensors& pass, const at::Tensor& scores,
                         const labelled_batch& batch, at::Tensor regularizer) {
  // In float32, whatever the scores are.
  const auto each = at::cross_entropy_loss(scores.to(at::kFloat), batch.labels,
                                           {}, at::Reduction::None);
  model_loss result;
  result.sum = (each * batch.weights).sum();
  result.regularizer = std::move(regularizer);
  if (!pass.training())
    result.right = scores.argmax(-1).eq(batch.labels);
  return result;
}

} // namespace potluck
