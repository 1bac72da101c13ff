/// What a trainer has computed for a step: its own samples, those set aside,
/// newer ones, and their losses; and which batch comes next.
///
/// Two gradients at most lie in compute: what batches add up to, and what was
/// set aside of it (delayed updates). A sample is in exactly one of them, and
/// this account is the only one that knows which samples those are.
///
/// Pure. It does not know stages, groups or others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "messages/limits.hpp"
#include "runtime/clock.hpp"
#include "runtime/step/actions.hpp"
#include "runtime/step/facts.hpp"

namespace potluck {

/// How a trainer numbers the samples that it computes.
struct data_order {
  /// False: every peer shuffles by its own seed. True: all draw from one order,
  /// of which this peer takes every `shards`-th sample from `shard` on, and no
  /// more than its part of each target batch. For experiments that compare one
  /// peer with many: the batches are the same.
  bool shared = false;
  std::uint32_t shard = 0;
  std::uint32_t shards = 1;
};

class sample_account {
public:
  struct settings {
    data_order order;
    std::uint64_t target = 1;      ///< Samples of a step, the reserve included.
    std::uint64_t steps = 1;       ///< Of the run.
    std::uint64_t order_seed = 0;  ///< Of the samples' order.
    std::uint32_t micro_batch = 0; ///< Samples a batch; 0: as `usual` says.
    std::uint64_t first_number = 0; ///< Batches are numbered from here on.
  };
  struct count {
    std::uint64_t samples = 0;
    double loss_sum = 0; ///< Within what messages can say.

    void add(const count& x) {
      samples += x.samples;
      loss_sum = std::clamp(loss_sum + x.loss_sum, -max_real, max_real);
    }
  };

  explicit sample_account(settings how);

  /// The run ends after another step than was said before.
  void ends_after(std::uint64_t steps) {
    how_.steps = steps;
  }
  /// What keeps the trainer busy, where no micro-batch is set.
  void usual(std::uint32_t samples);

  // ---- what there is ------------------------------------------------------

  /// For the next step, or set aside for its round.
  const count& counted() const {
    return counted_;
  }
  double mean_loss() const;
  /// What is counted was set aside; newer samples are counted for the step
  /// behind the next one.
  bool aside() const {
    return aside_;
  }
  /// A batch is under way.
  bool running() const {
    return running_;
  }
  /// Samples a second, as batches were measured.
  double speed() const {
    return speed_;
  }

  // ---- batches ------------------------------------------------------------

  /// Samples that fit into a batch of at most `longest`.
  std::uint32_t batch_size(duration longest) const;
  /// @param step Held. @param quota Samples that this peer should compute
  ///     before it looks again; 0: none. A shared order knows its own.
  /// @return Nothing when there is nothing to compute.
  std::optional<compute_batch> next(std::uint64_t step, std::uint64_t quota,
                                    duration longest);
  /// Whether the batch is the one that was asked for.
  bool asked_for(const batch_done& x) const {
    return x.number == number_;
  }
  /// The batch that was asked for has ended. Its samples count if `expected`,
  /// unless its gradient was dropped meanwhile.
  void ended(const batch_done& x, bool expected);

  // ---- setting aside (delayed updates) ------------------------------------

  /// What is counted is complete. @param total Of all peers' samples.
  std::optional<set_gradient_aside> close(std::uint64_t total,
                                          duration longest);
  /// It is not complete after all.
  std::optional<take_gradient_back> reopen();
  /// A mean with what was set aside is applied.
  drop_gradient stepped_beside();
  /// Another state is held: nothing is left to count. Batches under way are
  /// void if the gradient is dropped for it.
  void clear(bool drops_batch);

  // ---- others' samples ----------------------------------------------------

  /// A contributor's gradient is added to what is counted.
  void take_in(const count& other) {
    counted_.add(other);
  }
  /// What was counted is somebody else's from here on, or nobody's.
  count give_away();
  /// Whoever takes this peer's place must not begin with the same samples.
  void reorder(std::uint64_t by);

private:
  std::uint64_t shard_samples() const;
  /// The samples behind `done` of those that belong to what follows `step`.
  batch_request cut(std::uint64_t done, std::uint64_t most, std::uint64_t step,
                    duration longest) const;

  settings how_;
  bool fixed_batch_; ///< A micro-batch was set.
  count counted_;
  count newer_;
  std::uint64_t newer_allowed_ = 0; ///< Samples.
  bool aside_ = false;
  bool running_ = false;
  std::uint64_t number_ = 0;      ///< Of the last batch asked for.
  std::uint64_t void_number_ = 0; ///< Its gradient was dropped.
  std::uint64_t next_sample_ = 0; ///< In this peer's own order.
  double speed_ = 0;
};

} // namespace potluck
