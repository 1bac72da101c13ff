/// The trainer port over a loop outside: its batches are what the loop hands
/// in.
#pragma once

#include <memory>
#include <utility>

#include "runtime/ports/trainer.hpp"
#include "tools/library/meeting.hpp"

namespace potluck::library {

class outside_trainer : public trainer {
public:
  outside_trainer(model_layout layout, std::shared_ptr<meeting> with)
      : layout_(std::move(layout)), with_(std::move(with)) {
  }

  const model_layout& layout() const override {
    return layout_;
  }
  /// The loop's batches are as large as they are.
  std::uint32_t usual_request() const override {
    return 1u << 20;
  }
  bool begins_sums() const override {
    return true;
  }
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override {
    return with_->await(request, parameters, gradient, cancelled);
  }
  /// Evaluating is the loop's own business.
  evaluation evaluate(const float*, std::uint64_t, std::uint64_t) override {
    return {};
  }

private:
  model_layout layout_;
  std::shared_ptr<meeting> with_;
};

} // namespace potluck::library
