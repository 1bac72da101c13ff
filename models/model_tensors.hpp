/// The tensors of one pass through a model, by name or in order, and what
/// layers need to know that compute otherwise in training. Private to this
/// folder, since it includes LibTorch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "runtime/state/model_layout.hpp"

namespace potluck {

/// Where each tensor of these layouts is, the first's before the second's.
using tensor_places = std::map<std::string, std::size_t>;
tensor_places places_of(const model_layout& first, const model_layout& second);

class model_tensors {
public:
  /// @param places Outlives this object.
  /// @param chance What is drawn by chance follows from it; none: the pass
  ///               evaluates, and nothing is.
  model_tensors(const tensor_places& places, std::vector<at::Tensor> all,
                std::optional<std::uint64_t> chance);

  /// Throws std::logic_error when the model has none of this name.
  const at::Tensor& operator[](const std::string& name) const;
  const std::vector<at::Tensor>& in_order() const {
    return all_;
  }

  bool training() const {
    return chance_.has_value();
  }
  /// For random numbers on this device; a pass that is computed again draws the
  /// same. Precondition: the pass trains.
  at::Generator generator(at::Device device) const;

private:
  const tensor_places& places_;
  std::vector<at::Tensor> all_;
  std::optional<std::uint64_t> chance_;
  mutable at::Generator generator_; ///< Made when it is asked for.
};

} // namespace potluck
