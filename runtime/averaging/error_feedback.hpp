/// What of its gradient a member still has to bring into a mean: what a lossy
/// packing left out of its parts, to be added to its next gradient.
///
/// Error feedback (Stich et al. 2018, "Sparsified SGD with Memory"; Karimireddy
/// et al. 2019, "Error Feedback Fixes SignSGD and other Gradient Compression
/// Schemes"). Pure; README.md, "What was not sent", states the rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "messages/packing.hpp"

namespace potluck {

using shared_gradient = std::shared_ptr<const std::vector<float>>;

/// How much of a member's own part is in the mean of a chunk that counts.
enum class part_fate : std::uint8_t {
  packed, ///< What its packing sends.
  whole,  ///< All of it: this member averaged the chunk.
  none,   ///< Nothing: the mean was made without it.
};

/// What a member brought into a round that counts.
struct own_parts {
  shared_gradient offered;      ///< As it was lent; null: it brought nothing.
  std::vector<part_fate> fates; ///< Of each chunk; empty: all were packed.
  /// As the round cut it; 0: as the run says.
  std::uint32_t chunk_values = 0;
};

/// What remains of what was offered: of each chunk all but what is in the mean.
/// Of a chunk with values that are not finite nothing remains, for no later
/// gradient could mend it.
shared_gradient residual_after(const own_parts& own, std::uint32_t chunk_values,
                               packing how);

/// One trainer's memory. Its owner lends gradients through it and says what
/// became of them.
class error_feedback {
public:
  /// @param how The run's packing. @param values In a gradient.
  error_feedback(packing how, std::uint32_t chunk_values, std::size_t values);

  /// What a former process of this peer kept, at the state that is held now. Of
  /// another length: nothing.
  void restore(shared_gradient residual);

  /// The gradient and the residual, for a round. The residual stays until a
  /// step is made: a round may come to nothing.
  shared_gradient offer(shared_gradient gradient);

  /// The same, for a sponsor: what it packs of it counts as sent from here on.
  shared_gradient give(shared_gradient gradient, std::uint64_t number);
  /// The sponsor did not take what was given under this number.
  void gift_refused(std::uint64_t number);

  /// The state has made a step.
  /// @param own Null when the mean was fetched: nobody here knows what is in
  /// it, so that what was offered last counts as sent.
  void step_made(const own_parts* own);

  /// Another state was taken over, and with it another's history.
  void state_replaced();

  /// Null: none.
  const shared_gradient& residual() const {
    return residual_;
  }

private:
  shared_gradient with_residual(shared_gradient gradient) const;
  void begin_anew();

  packing how_;
  std::uint32_t chunk_values_;
  std::size_t values_;
  shared_gradient residual_;
  shared_gradient offered_; ///< For a round whose outcome is not known.
  /// The last gift's number, and what the residual was before it.
  std::uint64_t gift_ = 0;
  shared_gradient before_gift_;
  /// From a former process, which may have sent some of it since.
  bool restored_ = false;
};

} // namespace potluck
