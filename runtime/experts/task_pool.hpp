/// The calls that wait for one pass of one expert.
///
/// Pure bookkeeping: the time is passed in, and what is refused or dropped is
/// the owner's to say. Calls leave in the order of their arrival; a call is
/// never split, and calls are put into one batch as long as it stays within the
/// maximum.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "messages/experts.hpp"
#include "runtime/clock.hpp"
#include "runtime/recycled_memory.hpp"

namespace potluck::limits {

/// Samples of one batch on a host's device.
constexpr std::uint32_t expert_batch = 2048;
/// Waiting in one expert's pool, for one pass: one large call of each of a
/// dozen callers, since whoever is refused sends all of it again; and no more,
/// since callers have better use of a refusal than of an answer that comes too
/// late.
constexpr std::size_t expert_waiting_samples = 16 * expert_batch;
constexpr std::size_t expert_waiting_calls = 256;

} // namespace potluck::limits

namespace potluck {

/// One call of one caller.
struct expert_task {
  peer_id caller;
  std::uint64_t number = 0; ///< The caller's.
  std::uint32_t samples = 0;
  /// As in the body of an `expert_request`, but float32.
  float_array values;
  potluck::packing packing = potluck::packing::float32; ///< Of the answer.
  time_point arrived;
  time_point useless; ///< From then on, nobody waits for the answer.

  std::size_t bytes() const {
    return values.size() * sizeof(float);
  }
};

class task_pool {
public:
  struct bounds {
    /// A batch waits for so many samples, but no longer than `linger`.
    std::uint32_t least_samples = 1;
    std::uint32_t most_samples = limits::expert_batch;
    duration linger{0};
    std::size_t waiting_samples = limits::expert_waiting_samples;
    std::size_t waiting_calls = limits::expert_waiting_calls;
  };
  enum class verdict {
    queued,
    busy,      ///< As much is waiting as may; nothing was changed.
    too_large, ///< More samples than a batch may have.
  };

  explicit task_pool(bounds b) : bounds_(b) {
  }

  verdict offer(expert_task task);

  /// From when on there is a batch to be taken; nothing when nobody waits.
  std::optional<time_point> ready() const;

  /// The oldest calls, as many as fit one batch. Precondition: not empty.
  std::vector<expert_task> take();

  /// Removes the calls that nobody waits for any more.
  std::vector<expert_task> drop_useless(time_point now);

  /// Removes the calls of one caller.
  std::vector<expert_task> forget(const peer_id& caller);

  bool empty() const {
    return tasks_.empty();
  }
  /// When the oldest arrived. Precondition: not empty.
  time_point oldest() const {
    return tasks_.front().arrived;
  }
  std::size_t calls() const {
    return tasks_.size();
  }
  std::size_t samples() const {
    return samples_;
  }

private:
  template <class Condition>
  std::vector<expert_task> remove(Condition condition);

  bounds bounds_;
  std::deque<expert_task> tasks_;
  std::size_t samples_ = 0;
};

} // namespace potluck
