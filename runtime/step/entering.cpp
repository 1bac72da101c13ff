#include "runtime/step/entering.hpp"

#include <algorithm>

namespace potluck {

namespace {

/// Doublings of `entering_again`: an hour.
constexpr unsigned most_doublings = 6;

} // namespace

void entering::left(const peer_id& who, time_point now) {
  unheard_.erase(who);
  if (auto i = entrances_.find(who); i != entrances_.end() && i->second.until)
    did_not_come(i->second, now);
}

bool entering::put_off(const outlook& at, bool alone, duration step,
                       duration patience) {
  account(at.now);
  const auto longest
      = alone ? std::max<duration>(patience, limits::entering_alone) : patience;
  const auto reach = std::max<std::uint64_t>(
      limits::entering_steps,
      static_cast<std::uint64_t>(duration{limits::entering_reach}
                                 / std::max(step, duration{1})));
  bool wait = false;
  for (const auto& [id, x] : at.others.reports())
    wait = waits_for(id, enters(x, at, alone, reach), longest, at.now) || wait;
  for (const auto& id : unheard_)
    wait = waits_for(id, alone, longest, at.now) || wait;
  waiting_ = wait;
  lagging_ = lags(at);
  if (lagging_) {
    const auto since = lagging_since_.value_or(at.now);
    lagging_since_ = since;
    lagging_ = at.now - since
               < std::min<duration>(patience, limits::entering_with_others);
  }
  return puts_off();
}

void entering::made(const peer_id& self, const group_contract& x,
                    const std::vector<std::uint8_t>& left_out) {
  with_.clear();
  lagging_since_.reset();
  for (std::size_t i = 0; i < x.members.size(); ++i)
    if (x.members[i].role == role::trainer && x.members[i].who.id != self
        && !std::binary_search(left_out.begin(), left_out.end(), i))
      with_.insert(x.members[i].who.id);
}

bool entering::lags(const outlook& at) const {
  return std::any_of(with_.begin(), with_.end(), [&](const peer_id& id) {
    const auto* x = at.others.report(id);
    return x && !x->contributes && x->phase != phase::finished
           && x->step < at.own.step;
  });
}

void entering::account(time_point now) {
  const auto passed = now - accounted_.value_or(now);
  accounted_ = now;
  credit_ = waiting_
                ? credit_ - passed
                : std::min<duration>(credit_ + passed / limits::entering_share,
                                     limits::entering_credit);
}

bool entering::enters(const progress_report& x, const outlook& at, bool alone,
                      std::uint64_t reach) const {
  const auto& own = at.own;
  if (x.role != role::trainer || x.contributes || x.phase == phase::finished
      || x.step > own.step)
    return false;
  const bool joins = x.phase == phase::joining;
  const auto known = entrances_.find(x.id);
  if (known != entrances_.end() && known->second.until)
    return joins || x.step < own.step; // Not level yet.
  return joins && (alone || (!x.state.empty() && own.step - x.step <= reach));
}

bool entering::waits_for(const peer_id& who, bool enters, duration longest,
                         time_point now) {
  auto known = entrances_.find(who);
  if (!enters) {
    if (known != entrances_.end() && known->second.until)
      entrances_.erase(known); // It is there.
    return false;
  }
  const bool waited = known != entrances_.end() && known->second.until;
  if (!waited) {
    if (credit_ < limits::entering_least
        || (known != entrances_.end() && now < known->second.again))
      return false;
    if (known == entrances_.end()) {
      make_place();
      known = entrances_.emplace(who, entrance{}).first;
    }
    known->second.until = now + longest;
  }
  auto& x = known->second;
  if (credit_ <= duration::zero())
    x.until.reset(); // No fault of its own.
  else if (now >= *x.until)
    did_not_come(x, now);
  return x.until.has_value();
}

void entering::did_not_come(entrance& x, time_point now) {
  x.until.reset();
  x.again = now + limits::entering_again * (1u << x.in_vain);
  x.in_vain = std::min(x.in_vain + 1, most_doublings);
}

void entering::make_place() {
  if (entrances_.size() < most)
    return;
  entrances_.erase(std::min_element(
      entrances_.begin(), entrances_.end(), [](auto& a, auto& b) {
        return std::pair{a.second.until.has_value(), a.second.again}
               < std::pair{b.second.until.has_value(), b.second.again};
      }));
}

} // namespace potluck
