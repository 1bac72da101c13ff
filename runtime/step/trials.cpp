#include "runtime/step/trials.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/median.hpp"

namespace potluck {

duration trials::grace::within(duration wanted, time_point now) {
  if (last_ && now - *last_ > limits::trial_memory)
    next_ = limits::trial_first;
  last_ = now;
  const auto result = std::min(wanted, next_);
  next_
      = std::min<duration>(limits::grace_growth * next_, limits::trial_longest);
  return result;
}

trials::account& trials::account_of(const peer_id& who) {
  if (accounts_.size() >= limits::trials_known && accounts_.count(who) == 0)
    accounts_.erase(std::min_element(
        accounts_.begin(), accounts_.end(), [](auto& a, auto& b) {
          return std::pair{a.second.earned, a.second.out_until}
                 < std::pair{b.second.earned, b.second.out_until};
        }));
  return accounts_[who];
}

void trials::made(const std::set<peer_id>& makers, duration step,
                  time_point now) {
  std::vector<duration> all;
  for (const auto& id : makers) {
    auto& x = account_of(id);
    x.earned = std::min<duration>(x.earned + step / limits::trial_share,
                                  limits::trial_credit);
    x.steps = std::min(x.steps + 1, limits::trial_steps);
    x.last = now;
    all.push_back(x.earned);
  }
  if (!all.empty()) // Half of them that are new do not lower it.
    usual_ = upper_median(std::move(all));
}

void trials::held_up(const std::set<peer_id>& who, duration how_long,
                     time_point now) {
  if (who.empty() || how_long <= duration{0})
    return;
  bool strangers = false, makers = false;
  for (const auto& id : who) {
    auto& x = account_of(id);
    (x.steps == 0 ? strangers : makers) = true;
    if (how_long > x.earned) {
      const auto wanted = std::min<duration>(
          limits::trial_share * (how_long - x.earned), limits::trial_longest);
      // Whose gradient was never in a step may come for nothing else.
      x.out_until = now + (x.steps > 0 ? x.outs.within(wanted, now) : wanted);
    }
    x.earned = std::max(x.earned - how_long, duration{0});
  }
  if (strangers)
    strangers_.spend(how_long, now);
  if (makers)
    makers_.spend(how_long, now);
}

void trials::gate::spend(duration how_long, time_point now) {
  if (left.spend(how_long, now) <= duration{0})
    closed_until = now + closings.within(left.until(limits::trial_least), now);
}

bool trials::out(const peer_id& who, time_point now) const {
  if (!has_used_up(who, now))
    return false;
  unsigned all = 0, lost = 0;
  bool counts = false;
  for (const auto& [id, x] : accounts_) {
    if (x.steps == 0 || now - x.last > limits::trial_memory)
      continue;
    all += x.steps;
    lost += has_used_up(id, now) ? x.steps : 0;
    counts = counts || id == who;
  }
  return !counts || 2 * lost < all;
}

bool trials::has_used_up(const peer_id& who, time_point now) const {
  const auto known = accounts_.find(who);
  const auto x = known == accounts_.end() ? account{} : known->second;
  const auto& all = x.steps == 0 ? strangers_ : makers_;
  return now < x.out_until || (now < all.closed_until && x.earned < usual_ / 2);
}

} // namespace potluck
