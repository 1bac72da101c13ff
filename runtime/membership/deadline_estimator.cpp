#include "runtime/membership/deadline_estimator.hpp"

#include <algorithm>
#include <stdexcept>

namespace potluck {

deadline_estimator::deadline_estimator(settings how) : how_(how) {
  if (how.floor <= duration::zero() || how.start < how.floor
      || how.cap < how.start)
    throw std::invalid_argument(
        "a deadline_estimator needs 0 < floor <= start <= cap.");
}

deadline_estimator::row& deadline_estimator::row_of(const peer_id& who) {
  auto at = rows_.find(who);
  if (at == rows_.end()) {
    if (rows_.size() >= max_peers)
      forget(peer_id{by_use_.begin()->second});
    at = rows_.try_emplace(who).first;
  } else {
    by_use_.erase(at->second.used);
  }
  at->second.used = ++uses_;
  by_use_.emplace_hint(by_use_.end(), uses_, who);
  return at->second;
}

void deadline_estimator::forget(const peer_id& who) {
  auto at = rows_.find(who);
  if (at == rows_.end())
    return;
  by_use_.erase(at->second.used);
  rows_.erase(at);
}

void deadline_estimator::observed(const peer_id& who, duration taken) {
  auto& x = row_of(who);
  x.own.add(taken);
  x.expiries = 0;
  all_.add(taken);
}

void deadline_estimator::expired(const peer_id& who) {
  auto& x = row_of(who);
  x.expiries = std::min(x.expiries + 1, max_expiries);
}

duration deadline_estimator::prior(duration start) const {
  return all_.count() < observed_durations::enough
             ? std::clamp(start, how_.floor, how_.cap)
             : all_.deadline(how_.floor, how_.cap);
}

duration deadline_estimator::patience(const peer_id& who,
                                      duration start) const {
  auto at = rows_.find(who);
  if (at == rows_.end())
    return prior(start);
  const auto& x = at->second;
  auto wait = x.own.count() < observed_durations::enough
                  ? std::max(prior(start), 3 * x.own.median())
                  : std::max(x.own.deadline(how_.floor, how_.cap),
                             x.own.median() + how_.margin);
  for (unsigned i = 0; i < x.expiries && wait < how_.cap; ++i)
    wait *= 2;
  return std::min(wait, how_.cap);
}

duration deadline_estimator::patience_for_a_stranger() const {
  return prior(how_.start);
}

std::size_t deadline_estimator::count(const peer_id& who) const {
  auto at = rows_.find(who);
  return at == rows_.end() ? 0 : at->second.own.count();
}

} // namespace potluck
