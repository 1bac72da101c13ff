/// The sample-weighted mean of one gradient chunk over one group.
///
/// Pure bookkeeping: no clock, no socket, no actor. Whoever owns it decides how
/// long to wait for a silent member; there is no mean over fewer members than
/// the contract lists, since then peers could disagree on what a step counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace potluck {

class chunk_average {
public:
  enum class verdict {
    accepted,      ///< Counted; other members are still missing.
    complete,      ///< Counted, and it was the last one missing.
    stranger,      ///< Not a member, or one without samples.
    repeated,      ///< The sender has already been counted.
    wrong_length,  ///< The part does not hold `length` values.
    wrong_samples, ///< The part's samples are not what the contract says.
    not_finite,    ///< A value is NaN or infinite.
  };

  /// @param length Values in this chunk. Not zero.
  /// @param samples What the contract says of each member, in its order;
  /// members with zero samples have no part. Throws std::invalid_argument when
  /// all are zero.
  chunk_average(std::size_t length, std::vector<std::uint64_t> samples);

  /// Counts a part once, or says why not. A refused part changes nothing.
  /// @param member Index into the contract.
  /// @param values `count` sums over the member's samples; copied or added.
  verdict offer(std::size_t member, std::uint64_t samples, const float* values,
                std::size_t count);

  /// Indices of the members that are yet to send a part, ascending.
  std::vector<std::size_t> missing() const;

  bool complete() const {
    return missing_ == 0;
  }
  std::uint64_t total_samples() const {
    return total_samples_;
  }

  /// The mean over all samples, `length` values. Throws std::logic_error unless
  /// `complete()`. The sum is scaled in place at the first call.
  const std::vector<float>& mean();

private:
  std::size_t length_;
  std::vector<std::uint64_t> samples_;
  std::vector<bool> counted_;
  std::uint64_t total_samples_ = 0;
  std::size_t missing_ = 0;
  bool scaled_ = false;
  std::vector<float> values_; ///< Empty before the first part.
};

} // namespace potluck
