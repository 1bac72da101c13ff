/// The trainer port over a network and a source of samples: gradients by
/// LibTorch's autograd, added straight into the caller's vector.
///
/// Private to this folder, since it includes LibTorch.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "models/loss_scale.hpp"
#include "models/model_memory.hpp"
#include "models/network.hpp"
#include "models/pass_buffers.hpp"
#include "models/precision.hpp"
#include "models/sample_source.hpp"
#include "runtime/ports/trainer.hpp"

namespace potluck {

/// How a trainer computes; none of it changes what comes out, but for rounding.
struct computing_options {
  at::Device device = at::kCPU;
  precision bits = precision::float32;
  int threads = 0;               ///< For LibTorch's loops; 0 for all cores.
  std::uint32_t micro_batch = 0; ///< Samples computed at once; 0 to choose.
  /// Micro-batches under way at once: more than one where a network waits for
  /// others' answers.
  std::uint32_t in_flight = 1;
  /// Hears why a trainer waits, or computes otherwise than asked, in a
  /// sentence; from any thread. May be empty.
  std::function<void(const std::string&)> notice;
};

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
  /// What a forward pass has left on the device,
  struct computed;
  /// and both passes of a micro-batch.
  struct passed;
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
  /// The backward pass where gradients are kept.
  void pass_back(shared_work& work, at::Tensor loss, passed& result);
  /// Waits for the device, and counts the samples.
  void settle(shared_work& work, const passed& x);
  void settle_buffers(shared_work& work, const passed& x);
  void overflow(std::uint64_t samples);
  /// The device's memory does not do for so many samples.
  void shrink(std::uint64_t samples);
  void tell(const std::string& sentence) const;

  /// The network's forward pass, again and again while experts are missing:
  /// nothing when `cancelled` became true before. Throws `too_few_experts` when
  /// they still are after `patience`. `chance` as in `model_tensors`.
  std::optional<computed> forward(const std::vector<at::Tensor>& leaves,
                                  const labelled_batch& batch,
                                  std::optional<std::uint64_t> chance,
                                  const std::atomic<bool>& cancelled,
                                  std::chrono::milliseconds patience) const;
  /// Once.
  computed forward(const std::vector<at::Tensor>& leaves,
                   const labelled_batch& batch,
                   std::optional<std::uint64_t> chance) const;

  std::unique_ptr<network> model_;
  tensor_places places_; ///< Of its parameters and buffers.
  pass_buffers buffers_;
  std::unique_ptr<sample_source> samples_;
  computing_options options_;
  std::atomic<std::uint64_t> micro_batch_;
  std::atomic<std::uint64_t> too_large_{0}; ///< To be said; 0: nothing.
  std::mutex memory_busy_; ///< Held by the call that uses `memory_`.
  std::unique_ptr<model_memory> memory_; ///< Null: the caller's.
  std::optional<loss_scale> scale_;      ///< In fp16.
};

} // namespace potluck
