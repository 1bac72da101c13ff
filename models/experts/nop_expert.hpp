/// Experts that compute nothing: for trying out a network of hosts and callers.
#pragma once

#include "runtime/ports/expert_module.hpp"

namespace potluck {

/// Outputs are the inputs, and the inputs' gradients those of the outputs; a
/// backward pass counts as an update.
class nop_expert : public expert_module {
public:
  explicit nop_expert(const expert_kind& kind);

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
  expert_kind kind_;
  expert_shape shape_;
  std::uint64_t updates_ = 0;
};

} // namespace potluck
