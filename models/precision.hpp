/// How many bits a value has while networks compute. Private to this folder,
/// since it includes LibTorch.
///
/// In 16 bits LibTorch's autocast chooses for each operation: products of
/// matrices in 16, norms, exponentials and losses in 32.
#pragma once

#include <string>

#include <ATen/ATen.h>

namespace potluck {

enum class precision {
  float32,
  bf16, ///< 8 bits of mantissa, and float32's range.
  fp16, ///< 11 bits of mantissa, and so little range that losses are scaled.
};

/// The precision of this name: "float32", "bf16" or "fp16". Throws
/// std::runtime_error with `problem_with_precision`'s sentence.
precision choose_precision(const std::string& name, const at::Device& device);

at::ScalarType type_of(precision how);

/// Operations of this thread choose their precision as long as it lives. Does
/// nothing in float32.
class autocast_scope {
public:
  autocast_scope(const at::Device& device, precision how);
  ~autocast_scope();
  autocast_scope(const autocast_scope&) = delete;
  autocast_scope& operator=(const autocast_scope&) = delete;

private:
  at::DeviceType device_;
  bool enabled_;
};

} // namespace potluck
