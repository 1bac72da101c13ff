#include "runtime/progress/past_steps.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

namespace {

/// Who goes on as before is believed to be so many times as fast: machines are
/// busy now and then, and a step that needs more lasts longer.
constexpr double spare = 2;
/// Who has come since is believed to be so many times as fast as the median
/// trainer of the last step: most GPUs beside laptops. So is who was there and
/// brought nothing to it, once this step lasts so many times as long.
constexpr double unseen = 16;
constexpr double overlong = 2;
/// Seconds. A peer that has just come may be in a group at once.
constexpr double shortest_step = 1e-3;

double seconds_of(duration x) {
  return std::chrono::duration<double>(x).count();
}

} // namespace

void past_steps::formed(duration computing, std::set<peer_id> there) {
  formed_after_ = std::max(shortest_step, seconds_of(computing));
  there_ = std::move(there);
}

void past_steps::made(const group_contract& x,
                      const std::vector<std::uint8_t>& left_out) {
  seconds_ = std::max(shortest_step, formed_after_);
  const auto before = std::exchange(brought_, {});
  std::vector<double> all;
  for (std::size_t i = 0; i < x.members.size(); ++i) {
    const auto& m = x.members[i];
    if (m.role != role::trainer
        || std::binary_search(left_out.begin(), left_out.end(), i))
      continue;
    // Who brought nothing rests, and goes on later as it did before.
    if (const auto known = before.find(m.who.id);
        m.samples == 0 && known != before.end())
      brought_.insert(*known);
    if (m.samples == 0)
      continue;
    all.push_back(static_cast<double>(m.samples));
    brought_[m.who.id] = all.back();
  }
  if (all.empty())
    return;
  const auto middle
      = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end());
  typical_ = *middle;
}

double past_steps::unseen_seconds(const peer_id& who, duration elapsed) const {
  const auto waits = there_.count(who) != 0 ? overlong * seconds_ : 0;
  return std::max(0.0, seconds_of(elapsed) - waits);
}

double past_steps::most_samples(const peer_id& who, duration elapsed) const {
  const auto known = brought_.find(who);
  if (known == brought_.end())
    return most_speed(who, elapsed) * unseen_seconds(who, elapsed);
  // What others computed beside a round is there when the step begins.
  return known->second * (1 + spare * seconds_of(elapsed) / seconds_);
}

double past_steps::most_speed(const peer_id& who, duration elapsed) const {
  const auto known = brought_.find(who);
  if (known != brought_.end())
    return (1 + spare) * known->second / seconds_;
  return unseen_seconds(who, elapsed) > 0 ? unseen * typical_ / seconds_ : 0;
}

} // namespace potluck
