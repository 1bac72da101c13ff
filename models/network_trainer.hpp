/// The trainer port over a network and a stream of samples: gradients by
/// LibTorch's autograd, added straight into the caller's vector.
///
/// Private to this folder, since it includes LibTorch.
#pragma once

#include <memory>
#include <string>

#include "models/network.hpp"
#include "models/text/sample_stream.hpp"
#include "runtime/ports/trainer.hpp"

namespace potluck {

/// Not safe for two calls at once; calls may come from different threads.
class network_trainer : public trainer {
public:
  /// @param threads For LibTorch's loops; 0 for all cores.
  /// @param micro_batch Samples computed at once; 0 to choose by their length.
  network_trainer(std::unique_ptr<network> model, sample_stream stream,
                  at::Device device, int threads, std::uint32_t micro_batch);

  const model_layout& layout() const override {
    return model_->layout();
  }

  /// A sample's loss is the mean cross entropy over its chosen tokens.
  /// `cancelled` is looked at before every micro-batch.
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override;

  evaluation evaluate(const float* parameters, std::uint64_t order_seed,
                      std::uint64_t samples) override;

private:
  /// Samples first, first + stride, ...: `count` of them, on the device.
  masked_batch gather(std::uint64_t order_seed, std::uint64_t first,
                      std::uint64_t stride, std::uint64_t count) const;

  /// The layout's tensors as views of one flat tensor.
  std::vector<at::Tensor> split(const at::Tensor& flat) const;

  std::unique_ptr<network> model_;
  sample_stream stream_;
  at::Device device_;
  int threads_;
  std::uint64_t micro_batch_;
};

} // namespace potluck
