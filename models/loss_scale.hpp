/// By how much a loss is multiplied, so that its gradients fit into fp16
/// (Micikevicius et al. 2018, "Mixed precision training"): below 6e-8 they
/// would vanish, above 65504 they overflow.
///
/// Doubled after `patience` micro-batches that fitted, halved after each that
/// did not. Pure: whoever owns it multiplies and divides. Torch-free.
#pragma once

#include <cstdint>

namespace potluck {

class loss_scale {
public:
  /// Micro-batches that fit between two attempts to go higher.
  static constexpr std::uint32_t patience = 2000;

  double value() const {
    return value_;
  }

  /// A micro-batch's gradients were all finite.
  void fitted();

  /// They were not: that micro-batch is lost.
  /// @returns False when no scale will do.
  bool overflowed();

private:
  double value_ = 65536;
  std::uint32_t fitting_ = 0;
};

} // namespace potluck
