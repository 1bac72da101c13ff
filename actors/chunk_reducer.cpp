#include "actors/chunk_reducer.hpp"

#include "actors/behavior.hpp"
#include "runtime/config.hpp"

namespace potluck {

void chunk_reducer_state::init(chunk_reducer_actor::pointer self,
                               reduction_job job) {
  self_ = self;
  job_ = std::move(job);
  if (!job_.average)
    job_.average = std::make_shared<shared_average>(job_.length, job_.samples,
                                                    job_.rule, job_.rooms);
}

void chunk_reducer_state::on(const part_arrived& x) {
  auto& [mutex, parts, average] = *job_.average;
  std::unique_lock<std::mutex> lock{mutex};
  const auto& [owner, data, size, known] = x.values;
  // Our own is a piece of the gradient.
  auto verdict
      = x.member == job_.self && x.packing == packing::float32
            ? average.offer_lasting(x.member, x.samples, owner,
                                    reinterpret_cast<const float*>(data),
                                    size / sizeof(float))
            : average.offer(x.member, x.samples, x.packing, x.values);
  if (verdict == chunk_average::verdict::accepted
      || verdict == chunk_average::verdict::complete)
    parts[x.member] = digest_of(x.values);
  lock.unlock();
  switch (verdict) {
    case chunk_average::verdict::accepted:
    case chunk_average::verdict::repeated: // A resent part is no offence.
    case chunk_average::verdict::too_late: // Nor is coming back.
      break;
    case chunk_average::verdict::complete:
      report_if_complete();
      break;
    case chunk_average::verdict::stranger:
      refuse(x.member, "it announced no samples");
      break;
    case chunk_average::verdict::wrong_length:
      refuse(x.member, "its length is not the chunk's");
      break;
    case chunk_average::verdict::wrong_samples:
      refuse(x.member, "its samples are not the contract's");
      break;
    case chunk_average::verdict::unfit:
      refuse(x.member, unfit_values);
      break;
    case chunk_average::verdict::too_large:
      refuse(x.member, "its mean is longer than part-norm allows");
      break;
  }
}

void chunk_reducer_state::on(const part_given_up& x) {
  for (auto member : x.members)
    leave_out(member);
  report_if_complete();
}

void chunk_reducer_state::refuse(std::uint32_t member, const char* why) {
  self_->send(job_.parent, part_refused{job_.chunk, member, why});
  leave_out(member);
  report_if_complete();
}

void chunk_reducer_state::leave_out(std::uint32_t member) {
  std::lock_guard<std::mutex> guard{job_.average->mutex};
  job_.average->average.leave_out(member);
}

void chunk_reducer_state::report_if_complete() {
  auto& [mutex, parts, average] = *job_.average;
  std::lock_guard<std::mutex> guard{mutex};
  if (!average.complete())
    return;
  for (auto member : average.drop_outliers(limits::outlier_norm)) {
    parts[member] = {};
    self_->send(job_.parent,
                part_refused{job_.chunk, static_cast<std::uint32_t>(member),
                             "it is a million times as long as the others'"});
  }
  self_->send(job_.parent,
              mean_ready{job_.group, job_.chunk, average.shared_mean(),
                         average.left_out(), std::move(parts)});
  self_->quit();
}

chunk_reducer_actor::behavior_type
chunk_reducer(chunk_reducer_actor::stateful_pointer<chunk_reducer_state> self,
              reduction_job job) {
  return behave<chunk_reducer_actor, chunk_reducer_state>(self, std::move(job));
}

} // namespace potluck
