#include "runtime/step/entering.hpp"

#include <algorithm>
#include <utility>

#include "runtime/contract_members.hpp"

namespace potluck {

namespace {

/// Doublings of `entering_again`: an hour.
constexpr unsigned most_doublings = 6;

} // namespace

void entering::left(const peer_id& who, time_point now) {
  unheard_.erase(who);
  if (auto i = entrances_.find(who); i != entrances_.end() && i->second.since)
    did_not_come(i->second, now);
}

bool entering::put_off(const outlook& at, bool alone, duration step,
                       duration patience) {
  account(at.now);
  alone_ = alone;
  const auto reach = std::max<std::uint64_t>(
      limits::entering_steps,
      static_cast<std::uint64_t>(duration{limits::entering_reach}
                                 / std::max(step, duration{1})));
  // Of each trainer, whether it is about to enter.
  const auto for_each = [&](auto&& tell) {
    for (const auto& [id, x] : at.others.reports())
      if (unheard_.count(id) == 0)
        tell(id, enters(x, at, alone, reach));
    for (const auto& id : unheard_)
      tell(id, alone);
  };
  auto longest = patience;
  if (alone) {
    duration shared{};
    for_each([&](const peer_id&, bool comes) {
      shared += comes ? duration{limits::entering_alone} : duration{};
    });
    longest = std::max(longest, shared);
  }
  waiting_ = false;
  for_each([&](const peer_id& id, bool comes) {
    waiting_ = waits_for(id, comes, longest, at.now) || waiting_;
  });
  lagging_ = waits_for_laggards(at, patience);
  return puts_off();
}

void entering::made(const peer_id& self, const group_contract& x,
                    const std::vector<std::uint8_t>& left_out) {
  with_.clear();
  lagging_since_.reset();
  lagging_ = false;
  for (const auto* member : trainers_behind(x, left_out))
    if (member->who.id != self)
      with_.insert(member->who.id);
}

std::vector<peer_id> entering::laggards(const outlook& at) const {
  std::vector<peer_id> result;
  for (const auto& id : with_) {
    const auto* x = at.others.report(id);
    const auto known = late_.find(id);
    if (x && !x->contributes && x->phase != phase::finished
        && x->step < at.own.step
        && (known == late_.end() || at.now >= known->second.again))
      result.push_back(id);
  }
  return result;
}

bool entering::waits_for_laggards(const outlook& at, duration patience) {
  const auto late = laggards(at);
  if (late.empty())
    return false;
  if (!lagging_since_)
    lagging_since_ = at.now;
  const auto waited = at.now - *lagging_since_;
  if (waited < std::min<duration>(patience, limits::entering_with_others))
    return waited < limits::lagging_free || late_credit_ > duration::zero();
  late_credit_ -= limits::lagging_free; // It was for those that come.
  for (const auto& id : late) {
    auto& x = place_of(id, late_);
    if (at.now > x.again + limits::entering_again * (1u << x.in_vain))
      x.in_vain = 0;
    did_not_come(x, at.now);
  }
  return false;
}

void entering::account(time_point now) {
  const auto last = accounted_.value_or(now);
  accounted_ = now;
  const auto account = [&](duration& credit, bool spent, time_point since,
                           duration most) {
    credit = spent ? credit - (now - std::max(last, since))
                   : std::min<duration>(
                       credit + (now - last) / limits::entering_share, most);
  };
  const auto paid = lagging_since_.value_or(now) + limits::lagging_free;
  account(credit_, waiting_, last,
          alone_ ? limits::entering_credit_alone : limits::entering_credit);
  account(late_credit_, lagging_ && paid < now, paid, limits::entering_credit);
}

bool entering::enters(const progress_report& x, const outlook& at, bool alone,
                      std::uint64_t reach) const {
  const auto& own = at.own;
  if (x.role != role::trainer || x.contributes || x.phase == phase::finished
      || x.step > own.step)
    return false;
  const bool joins = x.phase == phase::joining;
  const auto known = entrances_.find(x.id);
  if (known != entrances_.end() && known->second.since)
    return joins || x.step < own.step; // Not level yet.
  return joins && (alone || (!x.state.empty() && own.step - x.step <= reach));
}

bool entering::waits_for(const peer_id& who, bool enters, duration longest,
                         time_point now) {
  auto known = entrances_.find(who);
  if (!enters) {
    if (known != entrances_.end() && known->second.since)
      entrances_.erase(known); // It is there.
    return false;
  }
  const bool waited = known != entrances_.end() && known->second.since;
  if (!waited) {
    if (credit_ < limits::entering_least
        || (known != entrances_.end() && now < known->second.again))
      return false;
    auto& fresh = place_of(who, entrances_);
    fresh.since = now;
    fresh.until = now + longest;
  }
  auto& x = entrances_.at(who);
  x.until = std::max(x.until, *x.since + longest); // More may have come.
  if (credit_ <= duration::zero())
    x.since.reset(); // No fault of its own.
  else if (now >= x.until)
    did_not_come(x, now);
  return x.since.has_value();
}

void entering::did_not_come(entrance& x, time_point now) {
  x.since.reset();
  x.again = now + limits::entering_again * (1u << x.in_vain);
  x.in_vain = std::min(x.in_vain + 1, most_doublings);
}

entering::entrance& entering::place_of(const peer_id& who, entrances& in) {
  if (in.size() >= most && in.count(who) == 0)
    in.erase(std::min_element(in.begin(), in.end(), [](auto& a, auto& b) {
      return std::pair{a.second.since.has_value(), a.second.again}
             < std::pair{b.second.since.has_value(), b.second.again};
    }));
  return in[who];
}

} // namespace potluck
