/// An expert that learns: a layer, its parameters, and its own Adam. Private to
/// this folder, since it includes LibTorch.
#pragma once

#include <vector>

#include <ATen/ATen.h>

#include "models/experts/expert_layout.hpp"
#include "runtime/optimizer/optimizer.hpp"
#include "runtime/ports/expert_module.hpp"

namespace potluck {

/// Adam (Kingma and Ba 2014) without weight decay: on a CPU the loops of
/// runtime/optimizer; on a GPU the same formula, where the parameters are.
class trained_expert : public expert_module {
public:
  /// Precondition: `problem_with(kind)` is empty and it has parameters.
  trained_expert(const expert_kind& kind, training_state fresh,
                 at::Device device, int threads);

  const expert_shape& shape() const override {
    return shape_;
  }
  void forward(std::uint32_t samples, const float* in, float* out) override;
  void backward(std::uint32_t samples, const float* in, const float* grad_out,
                float* grad_in) override;
  std::uint64_t updates() const override {
    return updates_;
  }
  std::vector<std::uint8_t> save() const override;
  void load(const std::vector<std::uint8_t>& bytes) override;

private:
  void adopt(const training_state& state);
  at::Tensor rows(std::uint32_t samples, const float* values) const;
  /// One update by the gradients that the leaves hold.
  void learn();
  void learn_on_cpu();
  void learn_on_device();

  expert_kind kind_;
  model_layout layout_;
  expert_shape shape_;
  at::Device device_;
  int threads_;
  optimizer adam_;
  std::uint64_t updates_ = 0;
  /// All flat, on the device.
  at::Tensor parameters_;
  at::Tensor first_moment_;
  at::Tensor second_moment_;
  at::Tensor gradient_;
  /// Views of `parameters_`, one a tensor.
  std::vector<at::Tensor> leaves_;
};

} // namespace potluck
