#include "models/model_tensors.hpp"

#include <mutex>
#include <stdexcept>

namespace potluck {

tensor_places places_of(const model_layout& first, const model_layout& second) {
  tensor_places result;
  for (const auto* layout : {&first, &second})
    for (const auto& x : layout->entries())
      result.emplace(x.name, result.size());
  return result;
}

model_tensors::model_tensors(const tensor_places& places,
                             std::vector<at::Tensor> all,
                             std::optional<std::uint64_t> chance)
    : places_(places), all_(std::move(all)), chance_(chance) {
}

const at::Tensor& model_tensors::operator[](const std::string& name) const {
  const auto at = places_.find(name);
  if (at == places_.end())
    throw std::logic_error("the model's layout has no tensor " + name);
  return all_.at(at->second);
}

at::Generator model_tensors::generator(at::Device device) const {
  if (!generator_.defined()) {
    at::Generator usual = at::globalContext().defaultGenerator(device);
    std::lock_guard<std::mutex> guard{usual.mutex()};
    generator_ = usual.clone();
    generator_.set_current_seed(chance_.value());
  }
  return generator_;
}

} // namespace potluck
