#include "runtime/experts/replica_book.hpp"

#include <algorithm>
#include <set>

#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/tenure.hpp"
#include "runtime/strangers/fullest_home.hpp"

namespace potluck {

replica_book::verdict replica_book::offered(const replica_offer& x,
                                            const std::string& home,
                                            time_point now) {
  if (x.kind != kind_ || x.owner.id == self_)
    return verdict::refused;
  if (x.hand_over && room() == 0)
    return verdict::refused;
  auto i = entries_.find(x.uid);
  if (i == entries_.end())
    return is_full() && gives_way_to(home, now) == entries_.end()
               ? verdict::refused
               : verdict::wanted;
  auto& e = i->second;
  auto theirs = tenure{x.term, x.owner.id};
  if (theirs < tenure{e.what.term, e.what.owner.id}
      && !(vanished(e.what.owner.id) && x.term == e.what.term))
    return verdict::refused;
  if (e.what.owner.id != x.owner.id || e.what.version != x.version
      || e.what.sum != x.sum)
    return verdict::wanted;
  e.offered = now;
  e.what.term = x.term;
  e.phase = phase::kept;
  return verdict::held;
}

std::vector<std::string> replica_book::keep(const replica_offer& x,
                                            const std::string& home,
                                            time_point now) {
  std::vector<std::string> gone;
  if (entries_.count(x.uid) == 0 && is_full()) {
    const auto other = gives_way_to(home, now);
    if (other == entries_.end())
      return {x.uid}; // Others came before it.
    gone.push_back(other->first);
    entries_.erase(other);
  }
  entries_[x.uid]
      = {{x.owner, x.term, x.version, x.sum, home}, now, phase::kept, now, {}};
  // Whoever has just sent all this lives.
  owners_[x.owner.id] = {now + duration{limits::expert_lease_look}, 0, false};
  tidy_owners();
  return gone;
}

replica_book::entries::const_iterator
replica_book::gives_way_to(const std::string& home, time_point now) const {
  std::map<std::string, std::size_t> places;
  for (const auto& [uid, e] : entries_)
    ++places[e.what.home];
  const auto fullest = home_that_gives_way(
      places, places[home], [](std::size_t size) { return size; });
  auto oldest = entries_.end();
  if (fullest == places.end())
    return oldest;
  // An orphan has time to find a new host.
  for (auto i = entries_.begin(); i != entries_.end(); ++i) {
    const auto& x = i->second;
    if (x.what.home == fullest->first
        && (x.phase == phase::kept
            || now - x.offered >= duration{limits::replica_life})
        && (oldest == entries_.end() || x.offered < oldest->second.offered))
      oldest = i;
  }
  return oldest;
}

void replica_book::tidy_owners() {
  std::set<peer_id> needed;
  for (auto& [uid, e] : entries_) {
    needed.insert(e.what.owner.id);
    if (e.claimed)
      needed.insert(e.claimed->by);
  }
  for (auto i = owners_.begin(); i != owners_.end();)
    i = needed.count(i->first) != 0 ? std::next(i) : owners_.erase(i);
}

bool replica_book::vanished(const peer_id& owner) const {
  auto i = owners_.find(owner);
  return i != owners_.end() && i->second.vanished;
}

std::vector<peer_id> replica_book::owners_due(time_point now,
                                              std::size_t at_most) {
  std::vector<peer_id> result;
  for (auto& [id, x] : owners_)
    if (x.next <= now && result.size() < at_most) {
      x.next = now + duration{limits::expert_lease_look};
      result.push_back(id);
    }
  return result;
}

void replica_book::lease(const peer_id& who, bool there, bool connected,
                         time_point now) {
  auto i = owners_.find(who);
  if (i == owners_.end())
    return;
  auto& x = i->second;
  if (there || connected) {
    x.misses = 0;
    if (!x.vanished)
      return;
    x.vanished = false;
    for (auto& [uid, e] : entries_)
      if (e.what.owner.id == who)
        e.phase = phase::kept;
    return;
  }
  if (++x.misses < limits::expert_lease_misses || x.vanished)
    return;
  x.vanished = true;
  for (auto& [uid, e] : entries_)
    if (e.what.owner.id == who) {
      e.phase = phase::orphan;
      e.due = now;
    }
}

std::vector<replica_book::question>
replica_book::questions(time_point now, std::size_t at_most) {
  std::vector<question> result;
  for (auto& [uid, e] : entries_) {
    if (e.phase == phase::kept || e.phase == phase::ready || now < e.due)
      continue;
    if (result.size() >= at_most)
      break;
    auto last = e.phase == phase::waiting || e.phase == phase::confirming;
    e.phase = last ? phase::confirming : phase::asked;
    e.due = now + duration{limits::orphan_again}; // Unless answered.
    result.push_back({uid, last});
  }
  return result;
}

void replica_book::answered(const question& q,
                            const std::vector<expert_announcement>& hosts,
                            const std::vector<expert_announcement>& guards,
                            time_point now) {
  auto i = entries_.find(q.uid);
  if (i == entries_.end())
    return;
  auto& e = i->second;
  if (e.phase != phase::asked && e.phase != phase::confirming)
    return;
  auto lost = tenure{e.what.term, e.what.owner.id};
  auto watch = [&](const peer_id& who) {
    owners_.try_emplace(who, owner{now + duration{limits::expert_lease_look}});
    tidy_owners();
  };
  auto claimed_since = e.claimed ? e.claimed->since : now;
  e.claimed.reset();
  std::optional<expert_announcement> heir;
  for (auto& h : hosts)
    // Only upwards: two that have both vanished must not be asked for ever.
    if (h.host.id != self_ && lost < tenure_of(h)
        && (!heir || tenure_of(*heir) < tenure_of(h)))
      heir = h;
  if (heir) {
    e.what.owner = heir->host;
    e.what.term = heir->term;
    e.phase = phase::kept;
    e.offered = now;
    watch(heir->host.id);
    return;
  }
  auto claimer = std::find_if(guards.begin(), guards.end(), [&](auto& g) {
    return g.host.id != self_ && g.term > e.what.term && !vanished(g.host.id);
  });
  if (claimer != guards.end()
      && now - claimed_since < duration{limits::expert_claim_patience}) {
    e.phase = phase::waiting;
    e.due = now + duration{limits::expert_turn};
    e.claimed = claim{claimer->host.id, claimed_since};
    watch(claimer->host.id);
    return;
  }
  if (q.last) {
    e.phase = phase::ready;
    return;
  }
  auto before = std::count_if(guards.begin(), guards.end(), [&](auto& g) {
    return g.host.id != self_ && g.term >= e.what.term && !vanished(g.host.id)
           && (g.version > e.what.version
               || (g.version == e.what.version && g.host.id < self_));
  });
  if (before == 0) {
    e.phase = phase::ready;
    return;
  }
  e.phase = phase::waiting;
  e.due = now + before * duration{limits::expert_turn};
}

std::optional<std::pair<std::string, replica_book::replica>>
replica_book::take(time_point now) {
  for (auto& [uid, e] : entries_) {
    if (e.phase != phase::ready)
      continue;
    if (room() == 0) {
      // Another guard may have room; so may this one, later.
      e.phase = phase::orphan;
      e.due = now + duration{limits::orphan_again};
      continue;
    }
    auto result = std::make_pair(uid, e.what);
    entries_.erase(uid);
    tidy_owners();
    return result;
  }
  return std::nullopt;
}

std::optional<replica_book::replica>
replica_book::take_offered(const std::string& uid) {
  auto i = entries_.find(uid);
  if (i == entries_.end() || room() == 0)
    return std::nullopt;
  auto result = i->second.what;
  entries_.erase(i);
  tidy_owners();
  return result;
}

std::vector<std::string> replica_book::forget_old(time_point now) {
  std::vector<std::string> result;
  for (auto i = entries_.begin(); i != entries_.end();) {
    auto old = i->second.phase == phase::kept
               && !vanished(i->second.what.owner.id)
               && now - i->second.offered >= duration{limits::replica_life};
    if (old)
      result.push_back(i->first);
    i = old ? entries_.erase(i) : std::next(i);
  }
  if (!result.empty())
    tidy_owners();
  return result;
}

const std::map<std::string, replica_book::replica> replica_book::held() const {
  std::map<std::string, replica> result;
  for (auto& [uid, e] : entries_)
    result[uid] = e.what;
  return result;
}

} // namespace potluck
