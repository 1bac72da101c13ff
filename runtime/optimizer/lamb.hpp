/// LAMB (You et al. 2019, arXiv 1904.00962, Algorithm 2) that gives the same
/// bits on every peer.
///
/// All peers apply one mean gradient to equal parameters and must end with
/// equal parameters, whatever their processor and number of threads. So nothing
/// here calls a math library (IEEE 754 defines + - * / and the square root to
/// the bit), and sums have a fixed order. README.md lists what else must hold.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/state/charter.hpp"
#include "runtime/state/model_layout.hpp"
#include "runtime/state/setting_kinds.hpp"
#include "runtime/state/state_digests.hpp"

namespace potluck {

/// The kind `lamb` of the setting `optimizer`.
setting_kind lamb_kind();

/// The rate of update number `step`, counted from 1: rises linearly to the peak
/// at `warmup_steps`, then falls linearly and would reach zero one step after
/// the last. Zero for step 0 and behind the run's end.
double learning_rate_at(const run_settings& settings, std::uint64_t step);

/// `base` to the power of `exponent`, by squaring: std::pow differs between
/// math libraries.
double exact_power(double base, std::uint64_t exponent);

/// Applies mean gradients. Holds no training state: parameters and moments are
/// the caller's.
class optimizer {
public:
  enum class verdict {
    applied,
    unusable, ///< The gradient has a NaN, an infinity or an absurd norm.
  };

  /// @param settings Those of the charter; `problem_with` found none.
  /// @param threads How many to use; the bits are the same for any number.
  explicit optimizer(const run_settings& settings, unsigned threads = 1);

  /// One update of all tensors, in place. The four vectors hold
  /// `layout.values()` floats each: parameters, first moment (of the gradient),
  /// second moment (of its square) and the mean gradient. A refused gradient
  /// changes nothing.
  /// @param step Number of this update, from 1: the state's step plus one.
  ///             Throws std::invalid_argument when 0.
  /// @param digests If not null, of the vectors as they are now: made on the
  ///                way, as far as one thread does all.
  /// @param rate Of this update; nothing: `learning_rate_at`.
  verdict apply(const model_layout& layout, float* parameters, float* m,
                float* v, const float* mean_gradient, std::uint64_t step,
                state_digests* digests = nullptr,
                std::optional<double> rate = std::nullopt) const;

private:
  run_settings settings_;
  double beta1_, beta2_, epsilon_, weight_decay_;
  unsigned threads_;
};

} // namespace potluck
