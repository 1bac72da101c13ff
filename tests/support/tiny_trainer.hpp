/// A model of plain arithmetic: fast, and the same bits everywhere.
#pragma once

#include <functional>
#include <memory>

#include "runtime/ports/trainer.hpp"

namespace potluck {

/// Learns to reproduce one fixed vector of 1,024 values: sample n says what one
/// stretch of 32 of them is, and its loss is half the squared distance.
class tiny_trainer : public trainer {
public:
  static constexpr std::size_t values = 1024;
  static constexpr std::size_t stretch = 32;

  tiny_trainer();

  const model_layout& layout() const override {
    return layout_;
  }
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override;
  evaluation evaluate(const float* parameters, std::uint64_t order_seed,
                      std::uint64_t samples) override;

private:
  model_layout layout_;
};

/// A charter for it, with chunks so small that there are four.
charter tiny_charter(std::uint64_t steps, std::uint64_t target_batch,
                     std::uint64_t seed = 1);

} // namespace potluck
