/// A chunk reducer: one chunk of one round, from the members' parts to the
/// mean.
///
/// It owns the sum: when it ends, the sum is gone, and nobody adds to it any
/// more. Parts come by message, or are added on its behalf by the thread that
/// receives them (runtime/averaging/round/round_intake.hpp), which tells it
/// what no part may be silent about: that one is no good, or that all are in.
///
/// Sends its parent exactly one `mean_ready` when every part is in but those it
/// is told to do without, and ends. A member whose part is refused is done
/// without as well. Whenever no part has come for its patience it says so: what
/// follows is the round's to decide, which ends it when it is over. It also
/// ends with its parent.
#pragma once

#include "actors/interfaces.hpp"
#include "runtime/averaging/round/chunk_sum.hpp"

namespace potluck {

struct reduction_job {
  group_id group;
  std::uint32_t chunk = 0;
  std::shared_ptr<chunk_sum> sum; ///< The reducer's alone to keep.
  duration patience{0};           ///< Between two parts.
  mean_listener parent;
};

class chunk_reducer_state {
public:
  void init(chunk_reducer_actor::pointer self, reduction_job job);
  void on(const part_arrived& x);
  void on(const part_given_up& x);
  void on(const part_unfit& x);
  void on(const parts_complete&);
  void on(const deadline_passed&);
  void on_down(const caf::down_msg&) {
    self_->quit(); // Nobody wants the mean any more.
  }

private:
  void arm();

  chunk_reducer_actor::pointer self_ = nullptr;
  reduction_job job_;
  std::size_t counted_ = 0; ///< At the last look.
};

chunk_reducer_actor::behavior_type
chunk_reducer(chunk_reducer_actor::stateful_pointer<chunk_reducer_state> self,
              reduction_job job);

} // namespace potluck
