#include "models/pass_buffers.hpp"

namespace potluck {

pass_buffers::pass_buffers(const network& model, at::Device device)
    : averaged_(!model.layout().entries().empty()
                && model.layout().entries().back().buffer),
      parameters_(model.layout().entries().size()) {
  if (averaged_)
    parameters_ -= model.buffers().entries().size();
  else
    for (const auto& x : model.buffers().entries())
      own_.push_back(at::full(x.shape, x.initial_mean,
                              at::TensorOptions(device).dtype(at::kFloat)));
}

std::vector<at::Tensor>
pass_buffers::now(const std::vector<at::Tensor>& leaves) const {
  if (!averaged_) {
    std::lock_guard<std::mutex> guard{busy_};
    return own_;
  }
  std::vector<at::Tensor> result;
  for (auto i = parameters_; i < leaves.size(); ++i)
    result.push_back(leaves[i].detach());
  return result;
}

std::vector<at::Tensor>
pass_buffers::settle(const std::vector<at::Tensor>& changes) {
  std::vector<at::Tensor> result;
  if (averaged_) {
    result.resize(parameters_);
    result.insert(result.end(), changes.begin(), changes.end());
    return result;
  }
  std::lock_guard<std::mutex> guard{busy_};
  for (std::size_t i = 0; i < changes.size(); ++i)
    own_[i] = own_[i] + changes[i];
  return result;
}

} // namespace potluck
