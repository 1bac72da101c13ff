/// What one trainer can have computed for a step, by what all of them have and
/// how fast they are. Nobody can check that samples were computed; but a claim
/// can be held against the others'.
///
/// Pure: made for one moment. The bounds are so wide that no machine beside
/// others gets near them, and all trainers that hear of the same others have
/// the same ones. More than half of the trainers together can raise them.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"

namespace potluck {

/// A trainer is believed to be so many times as fast as the median one at most:
/// more than a GPU beside laptops.
constexpr double most_times_median = 256;

class speed_book {
public:
  /// Samples per second beyond which nobody is believed.
  static constexpr double highest_speed = 1e9;
  /// Of samples; well below 2^63, so that a double becomes a number of them.
  static constexpr double most_possible = 1e18;

  /// @param target_batch Samples of a step.
  /// @param own This peer's report: measured, so it counts where too few others
  ///     are known for a median.
  /// @param elapsed Since this peer holds its state.
  speed_book(std::uint64_t target_batch, const progress_report& own,
             duration elapsed);

  /// Another trainer that averages. @param beside It is at the same step.
  void add(const progress_report& x, bool beside);

  /// Samples a second of one trainer.
  double most_speed() const;
  /// Samples of one trainer for the next step. An eighth of the target batch at
  /// least, since batches may be large and a step has just begun; the target
  /// batch while nobody's speed is known.
  std::uint64_t most_samples() const;
  /// What a member may bring to a group: one that brings more lies. An honest
  /// one stops near the target batch.
  std::uint64_t believable_samples() const;

private:
  template <class T>
  T typical(const std::vector<T>& all, T own) const;

  std::uint64_t target_batch_;
  double elapsed_; ///< Seconds.
  double own_speed_;
  std::uint64_t own_samples_;
  std::vector<double> speeds_;         ///< Those that are known.
  std::vector<std::uint64_t> samples_; ///< Of this step.
};

} // namespace potluck
