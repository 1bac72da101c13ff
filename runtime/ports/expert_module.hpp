/// What an expert host needs of an expert: a small network that is called, and
/// that learns from being called.
///
/// Implemented in models/ with LibTorch; tests use a few lines of arithmetic.
/// Tensors are flat float32 in row-major order, one row a sample. No call comes
/// while another one of the same module runs; modules of one host share its
/// device and are called one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace potluck {

/// Values of one sample. A transformer's are its tokens' vectors, one after
/// the other.
struct expert_shape {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
};

/// A gradient that is not finite: the fault of whoever sent the inputs or the
/// outputs' gradients, not of the expert, which is as it was.
class unusable_gradient : public std::runtime_error {
public:
  unusable_gradient()
      : std::runtime_error("a gradient of the call is not finite") {
  }
};

class expert_module {
public:
  virtual ~expert_module() = default;

  virtual const expert_shape& shape() const = 0;

  /// Without a graph. `in` is [samples, inputs], `out` [samples, outputs].
  virtual void forward(std::uint32_t samples, const float* in, float* out) = 0;

  /// Computes the forward pass once more (gradient checkpointing), writes the
  /// gradient of the inputs, and applies the expert's own optimizer at once
  /// (Ryabinin and Gusev 2020, section 3.3). `grad_out` is [samples, outputs],
  /// `grad_in` [samples, inputs]. When a gradient is not finite nothing is
  /// applied and `unusable_gradient` is thrown.
  virtual void backward(std::uint32_t samples, const float* in,
                        const float* grad_out, float* grad_in)
      = 0;

  /// Updates applied since the expert was made, on whichever hosts: its
  /// version.
  virtual std::uint64_t updates() const = 0;

  /// Parameters, optimizer statistics and `updates()` as bytes.
  virtual std::vector<std::uint8_t> save() const = 0;
  /// Throws std::runtime_error with a sentence when the bytes are not those of
  /// such an expert; nothing is changed then.
  virtual void load(const std::vector<std::uint8_t>& bytes) = 0;
};

/// Which network an expert is: what all experts of one layer have in common.
struct expert_kind {
  std::string layer = "ffn"; ///< "ffn", "transformer" or "nop".
  std::uint32_t hidden = 1024;
  std::uint32_t inner = 0;  ///< 0: four times `hidden`.
  std::uint32_t heads = 4;  ///< Of a transformer.
  std::uint32_t tokens = 1; ///< Of a sample, for layers that mix them.
  double learning_rate = 0.001;
};

/// Makes the expert `uid`, fresh: equal kinds, uids and seeds give equal
/// parameters on every machine. Blocking. Throws std::runtime_error with one
/// sentence for a person.
using expert_factory = std::function<std::unique_ptr<expert_module>(
    const expert_kind& kind, const std::string& uid, std::uint64_t seed)>;

} // namespace potluck
