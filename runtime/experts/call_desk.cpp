#include "runtime/experts/call_desk.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/experts/call_values.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

call_desk::reply call_desk::refuse(const peer_id& to, std::uint64_t number,
                                   expert_outcome why,
                                   const std::string& sentence) {
  figures_.failed += why == expert_outcome::failed;
  reply x{to, {}};
  x.what.number = number;
  x.what.outcome = why;
  x.what.sentence = sentence;
  return x;
}

call_desk::replies call_desk::refuse(const std::vector<expert_task>& tasks,
                                     expert_outcome why,
                                     const std::string& sentence) {
  replies result;
  for (auto& task : tasks)
    result.push_back(refuse(task.caller, task.number, why, sentence));
  return result;
}

std::optional<call_desk::reply> call_desk::take(const peer_id& from,
                                                const expert_request& x,
                                                const shared_bytes& body,
                                                const hosted_experts& experts,
                                                time_point now) {
  if (!seen_.first(from, x.number))
    return std::nullopt; // Its answer is on the way.
  auto no = [&](expert_outcome why, const std::string& sentence) {
    return refuse(from, x.number, why, sentence);
  };
  auto e = experts.find(x.uid);
  if (e == nullptr)
    return no(expert_outcome::not_here, "this host has no such expert");
  // What it learns now would be lost on the way to its next host.
  if (experts.leaving() && (e->handed_over || x.pass == expert_pass::backward))
    return no(expert_outcome::busy, "this host is leaving");
  if (!e->ready)
    return no(expert_outcome::busy, "the expert is being loaded");
  // A forward pass has none, and a backward pass some: verified.
  auto gradients = x.pass == expert_pass::backward ? e->shape.outputs : 0;
  auto wanted = e->shape.inputs + gradients;
  auto outputs = std::max(e->shape.inputs, e->shape.outputs);
  if (x.values != wanted || x.gradients != gradients
      || std::uint64_t{x.samples} * outputs > max_sample_values)
    return no(expert_outcome::wrong_shape,
              "a sample of this call has " + std::to_string(x.values)
                  + " values where the expert takes " + std::to_string(wanted)
                  + ", or its answer would not fit a frame");
  expert_task task;
  task.caller = from;
  task.number = x.number;
  task.samples = x.samples;
  task.packing = x.packing;
  task.arrived = now;
  task.useless = now + std::chrono::milliseconds{x.patience_ms};
  auto size = size_of(x);
  task.values.resize(size.inputs + size.gradients);
  if (!read_values(x.packing, body, size, task.values.data()))
    return no(expert_outcome::wrong_values,
              "a value of the call is not finite, or wrongly packed");
  switch (queue_.offer(x.uid, x.pass, std::move(task))) {
    case task_pool::verdict::queued:
      break;
    case task_pool::verdict::busy:
      ++figures_.busy;
      return no(expert_outcome::busy, "too many calls are waiting");
    case task_pool::verdict::too_large:
      return no(expert_outcome::wrong_shape,
                "the call has more samples than the "
                    + std::to_string(most_samples_) + " of a batch");
  }
  return std::nullopt;
}

std::optional<call_desk::job> call_desk::next(time_point now) {
  if (wake_ && *wake_ <= now)
    wake_.reset();
  if (running_)
    return std::nullopt;
  auto batch = queue_.next(now);
  if (!batch)
    return std::nullopt;
  wake_.reset();
  running_ = std::make_shared<const batch_queue::batch>(std::move(*batch));
  return job{++number_, running_};
}

std::optional<time_point> call_desk::wake() {
  if (running_)
    return std::nullopt;
  auto told = std::exchange(wake_, queue_.wake());
  return wake_ != told ? wake_ : std::nullopt;
}

std::string call_desk::learning() const {
  return running_ && running_->pass == expert_pass::backward ? running_->uid
                                                             : "";
}

call_desk::replies call_desk::computed(const result& x) {
  auto batch = std::exchange(running_, nullptr);
  ++figures_.batches;
  replies result;
  const float* at = x.values->data();
  for (auto& task : batch->tasks) {
    auto count = std::size_t{task.samples} * x.width;
    if (all_finite(at, count)) {
      reply done{task.caller, {}};
      done.what.number = task.number;
      done.what.samples = task.samples;
      done.what.values = x.width;
      done.what.version = x.version;
      done.what.packing = task.packing;
      done.body = body_of(task.packing, x.values, at, {count, 0});
      result.push_back(std::move(done));
      ++figures_.calls;
      figures_.samples += task.samples;
    } else {
      result.push_back(refuse(task.caller, task.number, expert_outcome::failed,
                              "the expert's values are not finite"));
    }
    at += count;
  }
  return result;
}

call_desk::replies call_desk::refuse_running(const std::string& uid,
                                             expert_outcome why,
                                             const std::string& sentence) {
  if (!running_ || running_->uid != uid)
    return {};
  return refuse(std::exchange(running_, nullptr)->tasks, why, sentence);
}

call_desk::replies call_desk::refuse_waiting(const std::string& uid,
                                             expert_outcome why,
                                             const std::string& sentence) {
  return refuse(queue_.withdraw(uid), why, sentence);
}

void call_desk::forget(const peer_id& caller) {
  queue_.forget(caller);
  seen_.forget(caller);
}

} // namespace potluck
