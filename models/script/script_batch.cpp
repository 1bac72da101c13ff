#include "models/script/script_batch.hpp"

#include "models/images/image_source.hpp"

namespace potluck {

namespace {

at::Tensor input_of(const std::string& name, const labelled_batch& batch,
                    std::int64_t samples) {
  if (name == "positions")
    return batch.positions;
  if (name == "weights")
    return batch.weights;
  if (name == "images")
    return batch.inputs.view(
        {samples, 1, mnist_shape::side, mnist_shape::side});
  if (name != "labels")
    return batch.inputs;
  // One for each token, each masked token, or each image.
  const bool each_token = !batch.positions.defined()
                          && batch.labels.numel() == batch.inputs.numel();
  return each_token ? batch.labels.view_as(batch.inputs) : batch.labels;
}

} // namespace

std::vector<at::Tensor> inputs_of(const std::vector<std::string>& names,
                                  const labelled_batch& batch,
                                  std::uint64_t samples) {
  std::vector<at::Tensor> result;
  for (const auto& name : names)
    result.push_back(
        input_of(name, batch, static_cast<std::int64_t>(samples)).contiguous());
  return result;
}

} // namespace potluck
