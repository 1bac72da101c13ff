#include "runtime/membership/peer_ledger.hpp"

#include <algorithm>
#include <tuple>

#include "runtime/dialable.hpp"
#include "runtime/membership/believable.hpp"

namespace potluck {

peer_ledger::rows::iterator peer_ledger::forget(rows::iterator at) {
  addresses_.forget(at->first);
  said_.forget(at->first);
  return rows_.erase(at);
}

peer_ledger::row* peer_ledger::make_room(const peer_id& who, bool proven,
                                         time_point now) {
  if (rows_.size() >= max_peers)
    forget_stale(now);
  if (rows_.size() >= max_peers) {
    // Hearsay gives way to hearsay, failing first, then oldest; only a peer
    // that proves to exist may push out one that did, or a ban.
    auto worth = [](const row& x) {
      return std::make_tuple(x.proven, x.banned_until.has_value(),
                             x.dial.failures == 0, x.vouched);
    };
    auto worst = rows_.end();
    for (auto at = rows_.begin(); at != rows_.end(); ++at) {
      const auto& x = at->second;
      if (x.state != state::known || (!proven && (x.proven || x.banned_until)))
        continue;
      if (worst == rows_.end() || worth(x) < worth(worst->second))
        worst = at;
    }
    if (worst == rows_.end())
      return nullptr;
    forget(worst);
  }
  auto& fresh = rows_[who];
  fresh.dial.due = now;
  fresh.vouched = now;
  return &fresh;
}

peer_ledger::verdict peer_ledger::add(const address& where, time_point now,
                                      bool hint) {
  if (!dialable(where))
    return verdict::undialable;
  if (seeds_.knows(where))
    return verdict::known;
  if (seeds_.full())
    return verdict::full;
  seeds_.add(where, now, hint);
  return verdict::added;
}

void peer_ledger::vacate(const address& where, const peer_id& holder) {
  auto stays = [this](const peer_id& id) { return is_linked(id); };
  for (auto& id : addresses_.vacate(where, holder, stays)) {
    const auto at = rows_.find(id);
    said_.forget(id);
    // A ban stays, and a dial under way is waited for.
    if (at->second.state == state::known && !at->second.banned_until)
      forget(at);
  }
}

bool peer_ledger::alone() const {
  return std::none_of(rows_.begin(), rows_.end(), [](const auto& x) {
    return x.second.state == state::linked;
  });
}

bool peer_ledger::may_dial(const peer_id& id, const row& x) const {
  if (x.state == state::linked)
    return false;
  const auto* said = said_.of(id);
  return !addresses_.of(id).empty() || (said && !said->hubs.empty());
}

std::vector<contact>
peer_ledger::due_for_dial(time_point now, std::size_t limit,
                          const std::function<bool(const peer_id&)>& wanted) {
  // A dial that never ended has failed.
  seeds_.give_up(now, random_);

  using candidate = std::tuple<unsigned, time_point, peer_id, address>;
  std::vector<candidate> due;
  for (auto& [id, x] : rows_) {
    if (x.state == state::dialling && x.dial.due <= now)
      dial_failed({id, {}}, now);
    const bool banned = x.banned_until && *x.banned_until > now;
    if (may_dial(id, x) && x.state == state::known && x.dial.due <= now
        && !banned && (!wanted || wanted(id)))
      due.emplace_back(x.dial.failures, x.dial.due, id,
                       addresses_.of(id).empty() ? address{}
                                                 : addresses_.of(id).front());
  }
  for (auto& x : seeds_.due(now, alone()))
    if (!(x.holder && is_linked(*x.holder)) && (!wanted || wanted(peer_id{})))
      due.emplace_back(x.backoff.failures, x.backoff.due, peer_id{}, x.where);
  std::sort(due.begin(), due.end());

  std::vector<contact> result;
  for (const auto& [failures, when, id, where] : due) {
    if (result.size() >= limit)
      break;
    // Where only hubs lead to it, the gateway counts.
    if (!id.empty() && !where.host.empty() && !came_from(rows_[id], where)
        && (!may_knock(own_host_, where.host) || !hearsay_.spend(where, now)))
      continue;
    result.push_back({id, where});
    if (id.empty()) {
      seeds_.dialling(where, now + dial_patience);
    } else {
      rows_[id].state = state::dialling;
      rows_[id].dial.due = now + dial_patience;
    }
  }
  return result;
}

std::optional<time_point> peer_ledger::next_dial(time_point after) const {
  std::optional<time_point> next;
  auto offer = [&](time_point when) {
    if (when > after && (!next || when < *next))
      next = when;
  };
  for (const auto& [id, x] : rows_)
    if (may_dial(id, x))
      offer(x.banned_until ? std::max(x.dial.due, *x.banned_until)
                           : x.dial.due);
  seeds_.offer_dials(
      alone(), [this](const peer_id& id) { return is_linked(id); }, offer);
  return next;
}

bool peer_ledger::connected(const contact& who, time_point now, bool shares) {
  if (who.id == self_ || who.id.empty() || is_banned(who.id, now))
    return false;
  auto at = rows_.find(who.id);
  auto* x = at != rows_.end() ? &at->second : make_room(who.id, true, now);
  if (x == nullptr)
    return false;
  if (const auto& all = addresses_.of(who.id);
      x->state == state::dialling && !all.empty())
    hearsay_.answered(all.front());
  addresses_.note(who.id, who.where, true);
  if (!shares && dialable(who.where) && addresses_.hold(who.where, who.id))
    vacate(who.where, who.id);

  x->proven = true;
  if (!who.where.host.empty())
    x->host = who.where.host;
  if (x->state != state::linked)
    x->linked_since = now;
  x->state = state::linked;
  x->vouched = now;
  return true;
}

void peer_ledger::reached(const address& where, const peer_id& who,
                          time_point now) {
  if (who == self_) {
    addresses_.is_own(where, now);
    vacate(where, self_);
  }
  seeds_.reached(where, who, who == self_,
                 is_banned(who, now) ? *rows_.at(who).banned_until
                                     : now + dial_backoff::longest);
}

void peer_ledger::disconnected(const peer_id& who, parting why,
                               time_point now) {
  if (who == self_ || who.empty())
    return;
  addresses_.release(who);
  const bool bans = why == parting::refused || why == parting::misbehaved;
  duration rest = dial_backoff::longest;
  if (bans)
    rest = ban;
  else if (why == parting::unneeded)
    rest = {};
  seeds_.wait_for(who, now + rest);
  auto at = rows_.find(who);
  if (bans) {
    auto* x = at != rows_.end() ? &at->second : make_room(who, false, now);
    if (x == nullptr)
      return;
    x->state = state::known;
    x->dial.due = now + ban;
    x->banned_until = now + ban;
    said_.forget(who);
  } else if (at == rows_.end()) {
    return;
  } else if (why == parting::left) {
    forget(at);
  } else {
    auto& x = at->second;
    // Only a connection that lasted ends a row of failures.
    if (x.state == state::linked
        && now - x.linked_since >= dial_backoff::longest)
      x.dial.failures = 0;
    x.state = state::known;
    x.vouched = now;
    if (why == parting::unneeded)
      x.dial.due = now;
    else
      x.dial.failed(now, random_);
  }
}

void peer_ledger::dial_failed(const contact& who, time_point now) {
  if (who.id.empty()) {
    seeds_.failed(who.where, now, random_);
    return;
  }
  auto at = rows_.find(who.id);
  if (at == rows_.end() || at->second.state != state::dialling)
    return; // It has dialled us meanwhile, or nobody asked for this dial.
  auto& x = at->second;
  x.state = state::known;
  x.dial.failed(now, random_);
  if (const auto& all = addresses_.of(who.id); !all.empty())
    hearsay_.failed(all.front(), now);
  addresses_.turn(who.id);
}

peer_ledger::verdict peer_ledger::report(const progress_report& said,
                                         time_point now, duration age) {
  if (said.id == self_)
    return verdict::itself;
  if (said.id.empty() || age < duration::zero() || !believable::report(said))
    return verdict::nonsense;
  const auto said_at = now - age;
  auto at = rows_.find(said.id);
  const bool added = at == rows_.end();
  if (!added && at->second.banned_until && *at->second.banned_until > now)
    return verdict::banned;
  // Nearly always: it is linked, and where it was.
  const bool linked = !added && at->second.state == state::linked;
  const bool named = linked && addresses_.names(said.id, said.where);
  const bool gone = !named && addresses_.taken(said.where, said.id, now);
  // What a peer said before it got another identity: nobody is there.
  if (gone && !linked)
    return verdict::replaced;
  auto* x = added ? make_room(said.id, false, now) : &at->second;
  if (x == nullptr)
    return verdict::full;
  if (!said_.take(said, said_at, age > duration::zero()))
    return verdict::older;
  if (!named && !gone)
    addresses_.note(said.id, said.where, false);
  if (x->dial.failures == 0)
    x->vouched = std::max(x->vouched, said_at);
  return added ? verdict::added : verdict::known;
}

std::vector<progress_report> peer_ledger::reports(time_point now,
                                                  duration max_age) const {
  return said_.recent(now, max_age,
                      [&](const peer_id& who) { return !is_banned(who, now); });
}

void peer_ledger::forget_stale(time_point now) {
  for (auto at = rows_.begin(); at != rows_.end();) {
    auto& x = at->second;
    if (x.banned_until && *x.banned_until <= now)
      x.banned_until.reset();
    const bool stale = x.state == state::known && !x.banned_until
                       && now - x.vouched >= forget_after
                       && !said_.heard_within(at->first, now, forget_after);
    at = stale ? forget(at) : std::next(at);
  }
}

bool peer_ledger::is_linked(const peer_id& who) const {
  auto at = rows_.find(who);
  return at != rows_.end() && at->second.state == state::linked;
}

bool peer_ledger::is_banned(const peer_id& who, time_point now) const {
  auto at = rows_.find(who);
  return at != rows_.end() && at->second.banned_until
         && *at->second.banned_until > now;
}

} // namespace potluck
