#include "runtime/experts/batch_queue.hpp"

namespace potluck {

task_pool::verdict batch_queue::offer(const std::string& uid, expert_pass pass,
                                      expert_task task) {
  auto caller = task.caller;
  auto bytes = task.bytes();
  auto i = callers_.find(caller);
  auto mine = i == callers_.end() ? account{} : i->second;
  if (bytes_ + bytes > bounds_.bytes
      || mine.bytes + bytes > bounds_.bytes_of_a_caller
      || mine.calls >= bounds_.calls_of_a_caller)
    return task_pool::verdict::busy;
  key where{uid, pass};
  auto pool = pools_.try_emplace(where, bounds_.pool).first;
  auto verdict = pool->second.offer(std::move(task));
  if (verdict != task_pool::verdict::queued) {
    if (pool->second.empty())
      pools_.erase(pool);
    return verdict;
  }
  callers_[caller] = {mine.calls + 1, mine.bytes + bytes};
  ++calls_;
  bytes_ += bytes;
  return verdict;
}

void batch_queue::settle(const std::vector<expert_task>& gone) {
  for (auto& task : gone) {
    auto i = callers_.find(task.caller);
    --i->second.calls;
    i->second.bytes -= task.bytes();
    if (i->second.calls == 0)
      callers_.erase(i);
    --calls_;
    bytes_ -= task.bytes();
  }
}

std::optional<batch_queue::batch> batch_queue::next(time_point now) {
  auto best = pools_.end();
  for (auto i = pools_.begin(); i != pools_.end();) {
    auto useless = i->second.drop_useless(now);
    dropped_ += useless.size();
    settle(useless);
    if (i->second.empty()) {
      i = pools_.erase(i);
      continue;
    }
    if (*i->second.ready() <= now
        && (best == pools_.end() || i->second.oldest() < best->second.oldest()))
      best = i;
    ++i;
  }
  if (best == pools_.end())
    return std::nullopt;
  batch result{best->first.first, best->first.second, best->second.take()};
  settle(result.tasks);
  if (best->second.empty())
    pools_.erase(best);
  return result;
}

std::optional<time_point> batch_queue::wake() const {
  std::optional<time_point> earliest;
  for (auto& [where, pool] : pools_)
    if (auto ready = pool.ready(); !earliest || *ready < *earliest)
      earliest = ready;
  return earliest;
}

void batch_queue::forget(const peer_id& caller) {
  if (!callers_.count(caller))
    return;
  for (auto i = pools_.begin(); i != pools_.end();) {
    settle(i->second.forget(caller));
    i = i->second.empty() ? pools_.erase(i) : std::next(i);
  }
}

std::vector<expert_task> batch_queue::withdraw(const std::string& uid) {
  std::vector<expert_task> result;
  for (auto pass : {expert_pass::forward, expert_pass::backward}) {
    auto i = pools_.find({uid, pass});
    if (i == pools_.end())
      continue;
    while (!i->second.empty())
      for (auto& task : i->second.take())
        result.push_back(std::move(task));
    pools_.erase(i);
  }
  settle(result);
  return result;
}

} // namespace potluck
