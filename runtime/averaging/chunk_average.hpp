/// The mean of one gradient chunk over one group: weighted by samples, or by a
/// robust rule (robust_mean.hpp), under which every member counts once.
///
/// Pure bookkeeping: no clock, no socket, no actor. Whoever owns it decides
/// whom to wait for: `leave_out` says that a member's part will not come. A
/// part that was counted stays: nobody needs to take one back, since members
/// that are lost have trained as well as the others.
///
/// For the plain mean it holds one sum in place, and parts that came as int8
/// until there are as many bytes of them: adding four at once reads and writes
/// the sum once. For the robust ones it holds every part until the last has
/// come (members x length floats), so that the result does not depend on the
/// order of arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "messages/message.hpp"
#include "messages/packing.hpp"
#include "runtime/averaging/robust_mean.hpp"
#include "runtime/averaging/value_pool.hpp"
#include "runtime/safeguards.hpp"

namespace potluck {

/// Beyond it no part has a value: so no sum of parts is infinite, whoever sends
/// them. A gradient's sums are far below.
constexpr float largest_part_value = 0x1p100f;
/// The same for what a sponsor adds to its part, from thousands.
constexpr float largest_contributed_value = 0x1p80f;

/// What makes a mean of a sum over so many samples.
float one_over(std::uint64_t samples);

/// What is wrong with values that are refused.
constexpr auto unfit_values
    = "it holds a NaN, an infinity or more than any gradient, or is not what "
      "packing makes";

class chunk_average {
public:
  enum class verdict {
    accepted,      ///< Counted; other members are still missing.
    complete,      ///< Counted, and it was the last one missing.
    stranger,      ///< Not a member, or one without samples.
    repeated,      ///< The sender has already been counted.
    wrong_length,  ///< The part does not hold `length` values.
    wrong_samples, ///< The part's samples are not what the contract says.
    unfit,         ///< A value is NaN, infinite or beyond any gradient's.
    too_large,     ///< Its mean is longer than the rule's `part_norm`.
    too_late,      ///< The member has been left out.
  };

  /// @param length Values in this chunk. Not zero.
  /// @param samples What the contract says of each member, in its order;
  /// members with zero samples have no part. Throws std::invalid_argument when
  /// all are zero.
  /// @param rooms Where memory for the sum comes from, once it is needed; none:
  /// fresh.
  /// @param guards Which of its refusals it knows.
  chunk_average(std::size_t length, std::vector<std::uint64_t> samples,
                averaging_rule rule = {},
                std::optional<value_pool> rooms = std::nullopt,
                safeguard_set guards = {});

  /// Counts a part once, or says why not. A refused part changes nothing.
  /// @param member Index into the contract.
  /// @param values `count` sums over the member's samples; copied or added.
  verdict offer(std::size_t member, std::uint64_t samples, const float* values,
                std::size_t count);

  /// The same for a part as it came. What no packing makes is `unfit`.
  /// @param body At any address; may be kept for a while.
  verdict offer(std::size_t member, std::uint64_t samples, packing how,
                const shared_bytes& body);

  /// The same for one that stays as it is while its owner is kept: a first part
  /// is not copied then, but read with the next.
  verdict offer_lasting(std::size_t member, std::uint64_t samples,
                        std::shared_ptr<const void> owner, const float* values,
                        std::size_t count);

  /// Does without the member's part. Without effect when it has none to send,
  /// or when it has been counted. A part that comes later is `too_late`.
  void leave_out(std::size_t member);

  /// Indices of the members that are yet to send a part, ascending.
  std::vector<std::size_t> missing() const;
  /// Indices of the members that were left out, ascending.
  std::vector<std::uint8_t> left_out() const;

  /// Nothing is missing, and something is there.
  bool complete() const {
    return missing_ == 0 && samples_counted_ != 0;
  }
  std::uint64_t samples_counted() const {
    return samples_counted_;
  }

  /// Under a robust rule, once `complete()`: leaves the parts out whose means
  /// are longer than `factor` times the median one, and returns whose they
  /// were.
  std::vector<std::size_t> drop_outliers(double factor);

  /// The mean over the members counted, `length` values. Throws
  /// std::logic_error unless `complete()`. Computed in place at the first call;
  /// parts that were kept are let go.
  const std::vector<float>& mean();
  /// The same, for whoever wants to keep it: not changed any more.
  std::shared_ptr<const std::vector<float>> shared_mean();

private:
  enum class part { expected, counted, none, left_out };

  bool robust() const {
    return rule_.how != aggregator::mean;
  }
  /// Why a part is not even looked at; nothing when it is.
  std::optional<verdict> refusal(std::size_t member, std::uint64_t samples,
                                 bool fits) const;
  std::optional<verdict> refusal(std::size_t member, std::uint64_t samples,
                                 const float* values, std::size_t count) const;
  /// Puts a packed part into the sum without unpacking it elsewhere, or lets it
  /// wait; false when that cannot be done: nothing has been counted then.
  bool sum_packed(std::size_t member, packing how, const shared_bytes& body);
  /// Adds the parts that wait.
  void add_waiting(float factor);
  /// What is in the sum now, or kept.
  verdict counted(std::size_t member);
  void keep(std::size_t member, const float* values);
  /// No part is in the sum yet, nor lasts until it is.
  bool empty() const {
    return !values_ && !lasting_;
  }
  /// What the next part is added to, and where the sum of both is to lie.
  std::pair<std::shared_ptr<const float>, float*> sum_so_far();
  /// 1, or what makes a mean of the sum that this member's part completes.
  float factor_with(std::size_t member);
  float* make_room();
  void average();

  std::size_t length_;
  std::vector<std::uint64_t> samples_;
  std::vector<part> parts_;
  std::uint64_t samples_counted_ = 0;
  std::size_t missing_ = 0;
  bool scaled_ = false;
  averaging_rule rule_;
  std::optional<value_pool> rooms_;
  safeguard_set guards_;
  /// The sum, or the result; null before there is either.
  std::shared_ptr<std::vector<float>> values_;
  /// The only part so far, where it lasts; null when there are more, or none.
  std::shared_ptr<const float> lasting_;
  /// Counted, as int8, and to be added to the sum together.
  struct waiting_part {
    shared_bytes body;
    std::shared_ptr<const void> allowance;
  };
  std::vector<waiting_part> waiting_;
  /// Under a robust rule: the counted members' means, in the members' order.
  std::map<std::size_t, std::vector<float>> kept_;
};

} // namespace potluck
