#include "runtime/progress/acquaintances.hpp"

#include <algorithm>

#include "runtime/membership/limits.hpp"

namespace potluck {

namespace {

/// A peer that is heard of is waited for so long before a group forms without
/// it, while nobody's connecting was observed; then as long as connecting
/// takes. The floor is two dials by the longest way that routers know.
constexpr deadline_estimator::settings connecting{limits::connecting_floor,
                                                  limits::connecting_cap,
                                                  limits::connecting_patience};

} // namespace

acquaintances::acquaintances(const peer_id& self, std::uint64_t target_batch,
                             bool counts_unconnected)
    : self_(self), tracker_(target_batch, self, limits::report_max_age),
      counts_unconnected_(counts_unconnected), connecting_(connecting) {
  if (counts_unconnected)
    tracker_.remembers_nothing();
}

bool acquaintances::joined(const peer_id& who, time_point now) {
  connected_.insert(who);
  lost_.erase(who);
  gone_.erase(who);
  out_of_touch_.erase(who);
  if (auto i = expected_since_.find(who); i != expected_since_.end()) {
    connecting_.observed(who, now - i->second);
    expected_since_.erase(i);
  }
  return splits_.returned(who);
}

std::optional<progress_report> acquaintances::left(const peer_id& who) {
  expected_since_.erase(who);
  lost_.erase(who);
  if (counts_unconnected_ && connected_.count(who) == 0) {
    if (out_of_touch_.size() < most_gone)
      out_of_touch_.insert(who);
    return std::nullopt;
  }
  connected_.erase(who);
  if (gone_.size() < most_gone)
    gone_.insert(who);
  std::optional<progress_report> last;
  if (auto known = report(who))
    last = *known;
  forget(who);
  return last;
}

std::optional<split_watch::split> acquaintances::lost(const peer_id& who,
                                                      time_point now) {
  auto trainers
      = std::count_if(reports_.begin(), reports_.end(), [](const auto& x) {
          return x.second.role == role::trainer;
        });
  return splits_.lost(who, static_cast<std::size_t>(trainers) + 1, now);
}

bool acquaintances::averages_with(const peer_id& who) {
  return who != self_ && partners_.size() < most_partners
         && partners_.insert(who).second && partners_.size() == 1;
}

bool acquaintances::is_worth_waiting_for(const peer_id& who, time_point now) {
  if (partners_.count(who) != 0)
    return true;
  if (!first_stranger_)
    first_stranger_ = now;
  return partners_.empty()
         && now - *first_stranger_ < duration{limits::connecting_cap};
}

void acquaintances::heard_of(const progress_report& x, bool expected,
                             time_point now) {
  // Records of a peer that has just left live on for a while.
  if (gone_.count(x.id) != 0)
    return;
  if (counts_unconnected_ && x.role == role::trainer)
    tracker_.hear(x, now);
  if (expected && x.phase != phase::finished && !x.contributes
      && out_of_touch_.count(x.id) == 0 && is_worth_waiting_for(x.id, now)
      && expected_since_.size() < most_partners)
    expected_since_.emplace(x.id, now);
}

void acquaintances::heard(const progress_report& x, time_point now) {
  reports_[x.id] = x;
  if (x.contributes)
    tracker_.forget(x.id);
  else
    tracker_.hear(x, now);
}

void acquaintances::forget(const peer_id& who) {
  reports_.erase(who);
  tracker_.forget(who);
}

void acquaintances::gave(const peer_id& who) {
  if (auto i = reports_.find(who); i != reports_.end())
    i->second.samples = 0;
}

const progress_report* acquaintances::report(const peer_id& who) const {
  auto i = reports_.find(who);
  return i == reports_.end() ? nullptr : &i->second;
}

std::vector<peer_id> acquaintances::known_trainers(time_point now) const {
  std::vector<peer_id> result{self_};
  for (auto& x : tracker_.fresh(now))
    if (x.role == role::trainer)
      result.push_back(x.id);
  return result;
}

void acquaintances::lost_company(const peer_id& who, time_point now) {
  if (lost_.size() < most_gone)
    lost_.insert(who);
  lost_at_ = now;
}

bool acquaintances::deserted(time_point now) const {
  return !lost_.empty() && now - lost_at_ < limits::reunion_patience
         && known_trainers(now).size() == 1;
}

bool acquaintances::expects(const std::function<bool(const peer_id&)>& one_of,
                            time_point now) const {
  return std::any_of(expected_since_.begin(), expected_since_.end(),
                     [&](const auto& x) {
                       return now - x.second < connecting_.patience(x.first)
                              && one_of(x.first);
                     });
}

} // namespace potluck
