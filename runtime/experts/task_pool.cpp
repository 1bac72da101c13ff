#include "runtime/experts/task_pool.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

task_pool::verdict task_pool::offer(expert_task task) {
  if (task.samples > bounds_.most_samples)
    return verdict::too_large;
  if (tasks_.size() >= bounds_.waiting_calls
      || samples_ + task.samples > bounds_.waiting_samples)
    return verdict::busy;
  samples_ += task.samples;
  tasks_.push_back(std::move(task));
  return verdict::queued;
}

std::optional<time_point> task_pool::ready() const {
  if (tasks_.empty())
    return std::nullopt;
  return samples_ >= bounds_.least_samples ? oldest()
                                           : oldest() + bounds_.linger;
}

std::vector<expert_task> task_pool::take() {
  std::vector<expert_task> batch;
  std::uint32_t samples = 0;
  while (!tasks_.empty()
         && samples + tasks_.front().samples <= bounds_.most_samples) {
    samples += tasks_.front().samples;
    batch.push_back(std::move(tasks_.front()));
    tasks_.pop_front();
  }
  samples_ -= samples;
  return batch;
}

template <class Condition>
std::vector<expert_task> task_pool::remove(Condition condition) {
  auto removed = std::stable_partition(
      tasks_.begin(), tasks_.end(),
      [&](const expert_task& x) { return !condition(x); });
  std::vector<expert_task> result{std::make_move_iterator(removed),
                                  std::make_move_iterator(tasks_.end())};
  tasks_.erase(removed, tasks_.end());
  for (auto& x : result)
    samples_ -= x.samples;
  return result;
}

std::vector<expert_task> task_pool::drop_useless(time_point now) {
  return remove([&](const expert_task& x) { return x.useless <= now; });
}

std::vector<expert_task> task_pool::forget(const peer_id& caller) {
  return remove([&](const expert_task& x) { return x.caller == caller; });
}

} // namespace potluck
