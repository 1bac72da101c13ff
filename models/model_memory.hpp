/// A model where it is computed, when that is not the memory of whoever asks
/// for gradients: on a graphics card, or in another precision.
///
/// Parameters come once for each training state, and are brought to the
/// networks' precision then. Gradients are summed here, in float32, until they
/// are collected. Private to this folder, since it includes LibTorch.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "messages/ids.hpp"
#include "models/precision.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

/// The layout's tensors as views of one flat tensor.
std::vector<at::Tensor> split(const model_layout& layout,
                              const at::Tensor& flat);

/// `count` values of the caller's as a tensor.
at::Tensor flat_view(const float* values, std::uint64_t count);

class model_memory {
public:
  /// What it takes of the device, at most.
  static std::uint64_t bytes(const model_layout& layout, precision how);

  /// Throws c10::OutOfMemoryError where the device has not as much.
  model_memory(const model_layout& layout, at::Device device, precision how);

  /// Leaves `tensors` at these parameters. `state` as in `batch_request`.
  void set_parameters(const float* values, const digest& state);

  /// What networks read, and what gradients are taken for: matrices in the
  /// precision, vectors in float32.
  const std::vector<at::Tensor>& tensors() const {
    return tensors_;
  }

  /// Adds `factor` times a gradient: one tensor for each of `tensors`, in any
  /// precision, undefined for zeros.
  void add(const std::vector<at::Tensor>& gradient, double factor);

  /// Adds the sum to `gradient` and begins another.
  void collect(float* gradient);
  void drop();

private:
  /// Memory that the device reads and writes by itself.
  at::Tensor& staging();

  at::Device device_;
  at::Tensor flat_;
  std::vector<at::Tensor> parts_; ///< Of `flat_`.
  std::vector<at::Tensor> tensors_;
  digest state_; ///< Of the parameters that are there.
  at::Tensor sum_;
  std::vector<at::Tensor> sums_; ///< Of `sum_`.
  bool empty_ = true;
  at::Tensor staging_;
};

} // namespace potluck
