/// The tiny model's arithmetic on as many values as a test wants: for what
/// takes time to download.
#pragma once

#include "tests/support/tiny_trainer.hpp"

namespace potluck {

class wide_trainer : public trainer {
public:
  explicit wide_trainer(std::uint64_t values) {
    layout_.add("all", {static_cast<std::uint32_t>(values)}, true, 0, 0.5f);
  }

  const model_layout& layout() const override {
    return layout_;
  }
  /// Works on the first values, as if they were the tiny model's.
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override {
    return tiny_.accumulate(request, parameters, gradient, cancelled);
  }
  evaluation evaluate(const float* parameters, std::uint64_t order_seed,
                      std::uint64_t samples) override {
    return tiny_.evaluate(parameters, order_seed, samples);
  }

private:
  model_layout layout_;
  tiny_trainer tiny_;
};

} // namespace potluck
