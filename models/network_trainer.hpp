/// The trainer port over a network and a source of samples: gradients by
/// LibTorch's autograd, added straight into the caller's vector.
///
/// Private to this folder, since it includes LibTorch.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "models/network.hpp"
#include "models/sample_source.hpp"
#include "runtime/ports/trainer.hpp"

namespace potluck {

/// How a trainer computes; none of it changes what comes out, but for rounding.
struct computing_options {
  at::Device device = at::kCPU;
  int threads = 0;               ///< For LibTorch's loops; 0 for all cores.
  std::uint32_t micro_batch = 0; ///< Samples computed at once; 0 to choose.
  /// Micro-batches under way at once: more than one where a network waits for
  /// others' answers.
  std::uint32_t in_flight = 1;
  /// Hears why a trainer waits, in a sentence; from any thread. May be empty.
  std::function<void(const std::string&)> notice;
};

/// Calls may come from several threads at once.
class network_trainer : public trainer {
public:
  network_trainer(std::unique_ptr<network> model,
                  std::unique_ptr<sample_source> samples,
                  computing_options options);

  const model_layout& layout() const override {
    return model_->layout();
  }

  std::uint32_t usual_request() const override;

  /// A sample's loss is the mean cross entropy over its labels. `cancelled` is
  /// looked at before every micro-batch. Where experts are missing for seconds,
  /// fewer samples than asked for are computed.
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override;

  evaluation evaluate(const float* parameters, std::uint64_t order_seed,
                      std::uint64_t samples) override;

private:
  struct shared_work;
  /// Computes micro-batches until none is left.
  void work_off(shared_work& work) const;
  void compute_micro_batch(shared_work& work, std::uint64_t first,
                           std::uint64_t count) const;

  /// The layout's tensors as views of one flat tensor.
  std::vector<at::Tensor> split(const at::Tensor& flat) const;

  /// The network's forward pass, again and again while experts are missing:
  /// nothing when `cancelled` became true before. Throws `too_few_experts` when
  /// they still are after `patience`.
  std::optional<network_output>
  forward(const std::vector<at::Tensor>& leaves, const labelled_batch& batch,
          const std::atomic<bool>& cancelled,
          std::chrono::milliseconds patience) const;

  std::unique_ptr<network> model_;
  std::unique_ptr<sample_source> samples_;
  computing_options options_;
  std::uint64_t micro_batch_;
};

} // namespace potluck
