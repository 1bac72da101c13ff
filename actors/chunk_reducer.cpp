#include "actors/chunk_reducer.hpp"

#include "actors/behavior.hpp"

namespace potluck {

void chunk_reducer_state::init(chunk_reducer_actor::pointer self,
                               reduction_job job) {
  self_ = self;
  job_ = std::move(job);
  self_->monitor(job_.parent);
  arm();
}

void chunk_reducer_state::on(const part_arrived& x) {
  const auto news = job_.sum->offer(x.member, x.head, x.body);
  if (news.refused)
    on(part_unfit{x.member, news.refused});
  if (news.complete)
    on(parts_complete{});
}

void chunk_reducer_state::on(const part_given_up& x) {
  if (job_.sum->leave_out(x.members).complete)
    on(parts_complete{});
}

void chunk_reducer_state::on(const part_unfit& x) {
  self_->send(job_.parent,
              part_refused{job_.group, job_.chunk, x.member, x.why});
}

void chunk_reducer_state::on(const parts_complete&) {
  auto result = job_.sum->settle();
  for (auto member : result.outliers)
    on(part_unfit{member, "it is a million times as long as the others'"});
  self_->send(job_.parent,
              mean_ready{job_.group, job_.chunk, std::move(result.mean),
                         std::move(result.left_out), std::move(result.parts)});
  self_->quit();
}

void chunk_reducer_state::on(const deadline_passed&) {
  const auto before = std::exchange(counted_, job_.sum->counted());
  if (before == counted_)
    self_->send(job_.parent, parts_overdue{job_.group, job_.chunk});
  arm();
}

void chunk_reducer_state::arm() {
  self_->delayed_send(self_, job_.patience, deadline_passed{});
}

chunk_reducer_actor::behavior_type
chunk_reducer(chunk_reducer_actor::stateful_pointer<chunk_reducer_state> self,
              reduction_job job) {
  return behave<chunk_reducer_actor, chunk_reducer_state>(self, std::move(job));
}

} // namespace potluck
