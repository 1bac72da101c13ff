#include "actors/chunk_reducer.hpp"

#include "actors/behavior.hpp"

namespace potluck {

void chunk_reducer_state::init(chunk_reducer_actor::pointer self,
                               reduction_job job) {
  self_ = self;
  job_ = std::move(job);
  average_.emplace(job_.length, job_.samples);
}

void chunk_reducer_state::on(const part_arrived& x) {
  auto refuse = [&](const char* why) {
    self_->send(job_.parent, part_refused{job_.chunk, x.member, why});
  };
  auto values = reinterpret_cast<const float*>(x.values.data);
  switch (average_->offer(x.member, x.samples, values,
                          x.values.size / sizeof(float))) {
    case chunk_average::verdict::accepted:
    case chunk_average::verdict::repeated: // A resent part is no offence.
    case chunk_average::verdict::too_late: // Nor is coming back.
      break;
    case chunk_average::verdict::complete:
      report();
      break;
    case chunk_average::verdict::stranger:
      refuse("it announced no samples");
      break;
    case chunk_average::verdict::wrong_length:
      refuse("its length is not the chunk's");
      break;
    case chunk_average::verdict::wrong_samples:
      refuse("its samples are not the contract's");
      break;
    case chunk_average::verdict::not_finite:
      refuse("it holds a NaN or an infinity");
      break;
  }
}

void chunk_reducer_state::on(const part_given_up& x) {
  for (auto member : x.members)
    average_->leave_out(member);
  if (average_->complete())
    report();
}

void chunk_reducer_state::report() {
  self_->send(
      job_.parent,
      mean_ready{job_.group, job_.chunk,
                 std::make_shared<const std::vector<float>>(average_->mean()),
                 average_->left_out()});
  self_->quit();
}

chunk_reducer_actor::behavior_type
chunk_reducer(chunk_reducer_actor::stateful_pointer<chunk_reducer_state> self,
              reduction_job job) {
  return behave<chunk_reducer_actor, chunk_reducer_state>(self, std::move(job));
}

} // namespace potluck
