/// A chunk reducer: one chunk of one round, from the members' parts to the
/// mean.
///
/// Parts come by message, or are in the sum already when whoever received them
/// could add them (runtime/averaging/round_intake.hpp).
///
/// Sends its parent exactly one `mean_ready` when every part is in but those it
/// is told to do without, and ends. A member whose part is refused is done
/// without as well. It does not wait for time: the averager
/// ends it when the round is over.
#pragma once

#include "actors/interfaces.hpp"
#include "runtime/averaging/round_intake.hpp"

namespace potluck {

struct reduction_job {
  group_id group;
  std::uint32_t chunk = 0;
  std::size_t length = 0;             ///< Values in the chunk.
  std::vector<std::uint64_t> samples; ///< Of each member, as in the contract.
  averaging_rule rule;
  mean_listener parent;
  /// For the mean (see `chunk_average`).
  std::optional<value_pool> rooms;
  /// The member whose parts stay as they are while the round lasts, by its
  /// index in the contract: the one that averages.
  std::uint32_t self = UINT32_MAX;
  /// Where others may add parts, too, and then send an empty `part_given_up`;
  /// null to have one made.
  std::shared_ptr<shared_average> average;
};

class chunk_reducer_state {
public:
  void init(chunk_reducer_actor::pointer self, reduction_job job);
  void on(const part_arrived& x);
  void on(const part_given_up& x);

private:
  void refuse(std::uint32_t member, const char* why);
  void leave_out(std::uint32_t member);
  void report_if_complete();

  chunk_reducer_actor::pointer self_ = nullptr;
  reduction_job job_;
};

chunk_reducer_actor::behavior_type
chunk_reducer(chunk_reducer_actor::stateful_pointer<chunk_reducer_state> self,
              reduction_job job);

} // namespace potluck
