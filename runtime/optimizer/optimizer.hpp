/// Applies mean gradients by a rule, with the same bits on every peer.
///
/// All peers apply one mean gradient to equal parameters and must end with
/// equal parameters, whatever their processor and number of threads. Here is
/// what all rules have in common: the check of the gradient, clipping, blocks,
/// threads, tensors' norms, digests. README.md lists what else must hold.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/optimizer/optimizer_rule.hpp"
#include "runtime/state/model_layout.hpp"
#include "runtime/state/state_digests.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

/// What an update changes: vectors of the layout's length. Moments that the
/// rule does not keep are null, or left as they are.
struct optimized_vectors {
  float* parameters;
  float* first_moment;
  float* second_moment;
};

/// Those of a state.
optimized_vectors vectors_in(training_state& state);

/// Holds no training state: that is the caller's.
class optimizer {
public:
  enum class verdict {
    applied,
    unusable, ///< The gradient has a NaN, an infinity or an absurd norm.
  };

  struct options {
    double clip_norm = 0; ///< Of the mean gradient; 0 for none.
    unsigned threads = 1; ///< The bits are the same for any number.
    /// One for each tensor (tensor_groups.hpp); empty: as the layout says.
    std::vector<tensor_terms> tensors = {};
  };

  optimizer(std::unique_ptr<optimizer_rule> rule, const model_layout& layout,
            options how);

  const optimizer_rule& rule() const {
    return *rule_;
  }

  /// One update of all tensors, in place. A refused gradient changes nothing.
  /// @param step Number of this update, from 1: the state's step plus one.
  ///             Throws std::invalid_argument when 0.
  /// @param rate The learning rate.
  /// @param digests If not null, of the vectors that are there as they are
  ///                now: made on the way, while they are in the caches.
  verdict apply(const optimized_vectors& vectors, const float* mean_gradient,
                std::uint64_t step, double rate,
                state_digests* digests = nullptr);

private:
  struct block {
    std::size_t tensor;
    std::size_t begin; ///< In the flat vectors.
    std::size_t size;
  };
  /// Sum over the blocks of parameters or of buffers, in their order.
  double gradient_squares(const float* mean_gradient, bool of_buffers) const;
  /// Each tensor's trust ratio.
  std::vector<double> trust(const optimized_vectors& vectors,
                            const float* mean_gradient, double rate) const;

  std::unique_ptr<optimizer_rule> rule_;
  double clip_norm_;
  unsigned threads_;
  std::vector<tensor_terms> tensors_;
  std::vector<block> blocks_;
  /// Where blocks end that are updated before any behind them.
  std::vector<std::size_t> stretches_;
};

} // namespace potluck
