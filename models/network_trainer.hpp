/// The trainer port over a network and a source of samples: gradients by
/// LibTorch's autograd, added straight into the caller's vector.
///
/// Private to this folder, since it includes LibTorch.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "models/network_passes.hpp"
#include "runtime/ports/trainer.hpp"

namespace potluck {

/// In float32 on the processor, gradients are added straight into the caller's
/// vector. Otherwise they stay in a `model_memory` until they are collected,
/// and parameters come there once for each of their numbers.
///
/// Where a card has too little memory for a micro-batch, its halves are
/// computed instead, and so are those behind it. Calls may come from several
/// threads.
class network_trainer : public trainer {
public:
  network_trainer(std::unique_ptr<network> model,
                  std::unique_ptr<sample_source> samples,
                  computing_options options);

  const model_layout& layout() const override {
    return model_->layout();
  }

  std::uint32_t usual_request() const override;

  /// `cancelled` is looked at before every micro-batch. Fewer samples than
  /// asked for are computed where experts are missing for seconds, and where
  /// the gradient of a micro-batch overflows in fp16.
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override;

  void collect(float* gradient) override;
  void drop() override;

  evaluation evaluate(const float* parameters, std::uint64_t order_seed,
                      std::uint64_t samples) override;

private:
  /// Consecutive samples of a request, computed at once.
  struct micro_batch;
  using passed = network_passes::passed;
  /// What the threads of one request share.
  struct shared_work;

  /// Computes micro-batches until none is left.
  void work_off(shared_work& work);
  /// The next one, with its samples; nothing when none is left.
  std::optional<micro_batch> take(shared_work& work) const;
  micro_batch gather(const shared_work& work, std::uint64_t first,
                     std::uint64_t count) const;
  /// Both passes, by halves where the device's memory asks for it.
  std::vector<passed> compute(shared_work& work, const micro_batch& x);
  std::optional<passed> pass(shared_work& work, const micro_batch& x);
  /// Waits for the device, and counts the samples.
  void settle(shared_work& work, const passed& x);
  /// The device's memory does not do for so many samples.
  void shrink(std::uint64_t samples);

  std::unique_ptr<network> model_;
  std::unique_ptr<sample_source> samples_;
  computing_options options_;
  std::atomic<std::uint64_t> micro_batch_;
  std::atomic<std::uint64_t> too_large_{0}; ///< To be said; 0: nothing.
  std::mutex memory_busy_; ///< Held by the call that uses `memory_`.
  std::unique_ptr<model_memory> memory_; ///< Null: the caller's.
  network_passes passes_;
};

} // namespace potluck
