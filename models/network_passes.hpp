/// A network's passes over samples: forward to the loss, again and again while
/// experts are missing, and back to gradients.
///
/// Gradients are added to the leaves', or to a `model_memory`. In fp16 the loss
/// is scaled, and what overflows all the same is left out. Knows no request and
/// no source of samples. Calls may come from several threads.
///
/// Private to this folder, since it includes LibTorch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include <c10/core/Event.h>

#include "models/computing.hpp"
#include "models/loss_scale.hpp"
#include "models/model_memory.hpp"
#include "models/network.hpp"
#include "models/pass_buffers.hpp"
#include "models/sample_source.hpp"

namespace potluck {

class network_passes {
public:
  /// @param memory Where gradients are kept; null: in the leaves'. All outlive
  /// this.
  network_passes(const network& model, const computing_options& options,
                 model_memory* memory);

  /// What both passes have left, until it is settled.
  struct passed {
    std::uint64_t count = 0; ///< Of samples.
    /// The loss; in fp16 also whether a gradient overflowed. In the processor's
    /// memory, when the device has come as far.
    at::Tensor report;
    std::optional<c10::Event> reported; ///< Of another device.
    double scale = 1;                   ///< What `gradient` is too large by.
    std::vector<at::Tensor> gradient;   ///< In fp16, to be added.
    std::vector<at::Tensor> changes;    ///< Of buffers.
  };

  /// Nothing when `cancelled` became true before. Throws `too_few_experts` when
  /// they still are after some seconds.
  /// @param leaves The parameters, then the buffers.
  /// @param chance As in `model_tensors`.
  std::optional<passed> pass(const std::vector<at::Tensor>& leaves,
                             const labelled_batch& samples, std::uint64_t count,
                             std::uint64_t chance,
                             const std::atomic<bool>& cancelled);
  /// Waits for the device, and adds what was not added before.
  /// @return The samples' loss; nothing: they overflowed, and are left out.
  std::optional<double> settle(const std::vector<at::Tensor>& leaves,
                               const passed& x);

  /// Forward alone, with patience of a person's; likewise.
  model_loss look_at(const std::vector<at::Tensor>& leaves,
                     const labelled_batch& samples) const;

private:
  /// What a forward pass has left on the device.
  struct computed {
    model_loss loss;
    /// Of each buffer; none of an evaluation.
    std::vector<at::Tensor> changes;
  };

  std::optional<computed> forward(const std::vector<at::Tensor>& leaves,
                                  const labelled_batch& batch,
                                  std::optional<std::uint64_t> chance,
                                  const std::atomic<bool>& cancelled,
                                  std::chrono::milliseconds patience) const;
  /// Once.
  computed forward(const std::vector<at::Tensor>& leaves,
                   const labelled_batch& batch,
                   std::optional<std::uint64_t> chance) const;
  /// The backward pass where gradients are kept.
  void pass_back(const std::vector<at::Tensor>& leaves, at::Tensor loss,
                 passed& result);
  void settle_buffers(const std::vector<at::Tensor>& leaves, const passed& x);
  void overflow(std::uint64_t samples);

  const network& model_;
  const computing_options& options_;
  model_memory* memory_;
  tensor_places places_; ///< Of the model's parameters and buffers.
  std::mutex busy_;      ///< Held by whoever adds, or uses what is below.
  pass_buffers buffers_;
  std::optional<loss_scale> scale_; ///< In fp16.
};

} // namespace potluck
