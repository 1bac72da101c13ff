#include "tools/lab/network/sim_agenda.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

void sim_agenda::later(duration when, std::function<void()> what) {
  due_.push({std::max(when, now_), sequence_++, std::move(what)});
}

std::optional<duration> sim_agenda::next() const {
  if (due_.empty())
    return std::nullopt;
  return due_.top().at;
}

std::size_t sim_agenda::run_until(duration end) {
  std::size_t count = 0;
  for (; !due_.empty() && due_.top().at <= end; ++count) {
    // The queue only lends its top; moving out of it spares a copy.
    auto& top = const_cast<task&>(due_.top());
    now_ = std::max(now_, top.at);
    auto run = std::move(top.run);
    due_.pop();
    run();
  }
  now_ = std::max(now_, end);
  return count;
}

} // namespace potluck
