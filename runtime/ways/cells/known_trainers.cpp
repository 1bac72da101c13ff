#include "runtime/ways/cells/known_trainers.hpp"

#include <algorithm>

namespace potluck {

known_trainers::known_trainers(const peer_id& self, duration silent_after)
    : self_{self}, silent_after_{silent_after}, absences_{silent_after} {
}

std::size_t known_trainers::place_of(const peer_id& id) const {
  const auto at = std::lower_bound(
      all_.begin(), all_.end(), id,
      [](const trainer& x, const peer_id& y) { return x.id < y; });
  return static_cast<std::size_t>(at - all_.begin());
}

const known_trainers::trainer* known_trainers::find(const peer_id& id) const {
  const auto place = place_of(id);
  return is_at(place, id) ? &all_[place] : nullptr;
}

bool known_trainers::met(const peer_id& who, bool relayed) {
  absences_.met(who);
  if (const auto place = place_of(who); is_at(place, who))
    all_[place].here = !relayed;
  if (relayed) {
    relayed_.insert(who);
    here_.erase(who);
    return false;
  }
  relayed_.erase(who);
  return here_.insert(who).second;
}

void known_trainers::missed(const peer_id& who, time_point now) {
  absences_.missed(who, now);
  lost(who);
}

void known_trainers::heard(const progress_report& x, time_point now,
                           bool connected) {
  if (x.role != role::trainer || x.id == self_)
    return;
  auto place = place_of(x.id);
  if (!is_at(place, x.id)) {
    if (all_.size() >= most) {
      all_.erase(
          std::min_element(all_.begin(), all_.end(),
                           [](auto& a, auto& b) { return a.at < b.at; }));
      place = place_of(x.id);
    }
    all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(place), trainer{});
    all_[place].id = x.id;
    all_[place].here = here_.count(x.id) != 0;
  }
  auto& it = all_[place];
  it.hearsay = !connected;
  it.contributes = x.contributes;
  const auto settled = x.phase != phase::joining && x.phase != phase::founding;
  if (settled && !it.settled)
    it.settled_since = now;
  it.settled = settled;
  it.decided = it.settled || x.members > 0;
  it.contributors = x.contributors;
  it.knows = x.members;
  it.hidden = !x.where.host.empty() && x.where.port == 0;
  it.at = now;
  absences_.heard(x.id, now);
}

void known_trainers::lost(const peer_id& who) {
  here_.erase(who);
  relayed_.erase(who);
  if (const auto place = place_of(who); is_at(place, who))
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(place));
}

void known_trainers::forget_silent(time_point now, bool anew) {
  // In a crowd many come once to join, and are never heard of again.
  all_.erase(std::remove_if(all_.begin(), all_.end(),
                            [&](auto& x) { return !fresh(x, now); }),
             all_.end());
  absences_.forget_silent(now, anew);
}

known_trainers::census known_trainers::count(time_point now,
                                             bool contributes) const {
  census result;
  std::size_t known = 0; // To members.
  std::vector<const trainer*> apart;
  for (auto& x : all_) {
    if (!fresh(x, now))
      continue;
    result.told = std::max<std::size_t>(result.told, x.knows);
    if (x.contributes)
      continue;
    const auto before = x.id < self_;
    result.before_us_with_newcomers += before || x.settled;
    if (estranged(x.id) && x.decided)
      apart.push_back(&x);
    if (!x.decided || x.hearsay)
      continue;
    result.contributors += x.contributors;
    ++result.members;
    result.open += x.here && !x.hidden && x.settled
                   && now - x.settled_since >= settling;
    known = std::max<std::size_t>(known, x.knows);
    result.before_us += before;
  }
  if (contributes)
    result.members = std::max(result.members, known);
  const auto ours = result.members + 1;
  result.apart = std::any_of(apart.begin(), apart.end(), [&](auto* x) {
    return x->knows >= far_fewer * ours
           || (x->id < self_ && far_fewer * x->knows > ours);
  });
  return result;
}

} // namespace potluck
