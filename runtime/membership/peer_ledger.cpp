#include "runtime/membership/peer_ledger.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "runtime/dialable.hpp"

namespace potluck {

namespace {

bool plausible(double x, double most = 1e300) {
  return std::isfinite(x) && x >= 0 && x <= most;
}

} // namespace

void peer_ledger::dial_plan::failed(time_point now, random_stream& random) {
  auto wait = longest_backoff;
  if (failures < 6) // 500 ms, 1 s, ... 16 s, then the longest
    wait = first_backoff * (1 << failures);
  ++failures;
  // Half of it is certain, half is chance: those who lost the same peer at the
  // same moment must not all return at the same moment.
  const auto half = wait / 2;
  due = now + half
        + duration{static_cast<duration::rep>(
            random.below(static_cast<std::uint64_t>(half.count()) + 1))};
}

peer_ledger::peer_ledger(const peer_id& self, std::uint64_t seed)
    : self_(self), random_(seed) {
}

void peer_ledger::note(const peer_id& who, row& x, const address& where,
                       bool proven) {
  if (!dialable(where))
    return;
  auto& all = x.addresses;
  auto at = std::find(all.begin(), all.end(), where);
  if (at == all.end()) {
    if (all.size() == max_addresses) {
      if (!proven)
        return;
      named_.erase({all.back(), who});
      all.pop_back();
    }
    at = all.insert(all.end(), where);
    named_.insert({where, who});
  }
  if (proven)
    std::rotate(all.begin(), at, at + 1);
}

bool peer_ledger::names(const row& x, const address& where) {
  return std::find(x.addresses.begin(), x.addresses.end(), where)
         != x.addresses.end();
}

peer_ledger::rows::iterator peer_ledger::forget(rows::iterator at) {
  for (const auto& where : at->second.addresses)
    named_.erase({where, at->first});
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

peer_ledger::verdict peer_ledger::add_seed(const address& where,
                                           time_point now) {
  if (!dialable(where))
    return verdict::undialable;
  if (seeds_.count(where) != 0)
    return verdict::known;
  if (seeds_.size() >= max_seeds)
    return verdict::full;
  seeds_[where].dial.due = now;
  return verdict::added;
}

peer_ledger::verdict peer_ledger::learn(const contact& who, time_point now) {
  if (who.id == self_)
    return verdict::itself;
  if (!dialable(who))
    return verdict::undialable;
  if (taken(who.where, who.id, now))
    return verdict::replaced;
  auto at = rows_.find(who.id);
  if (at == rows_.end()) {
    auto* fresh = make_room(who.id, false, now);
    if (fresh == nullptr)
      return verdict::full;
    note(who.id, *fresh, who.where, false);
    return verdict::added;
  }
  if (is_banned(who.id, now))
    return verdict::banned;
  auto& x = at->second;
  note(who.id, x, who.where, false);
  // Hearsay keeps nobody alive who cannot be reached.
  if (x.dial.failures == 0)
    x.vouched = now;
  return verdict::known;
}

bool peer_ledger::taken(const address& where, const peer_id& who,
                        time_point now) const {
  if (auto own = own_.find(where); own != own_.end() && own->second > now)
    return true;
  auto held = held_.find(where);
  return held != held_.end() && held->second != who;
}

void peer_ledger::vacate(const address& where, const peer_id& holder) {
  auto next = named_.lower_bound({where, peer_id{}});
  while (next != named_.end() && next->first == where) {
    const auto id = next->second;
    const auto at = rows_.find(id);
    auto& x = at->second;
    if (id == holder || x.state == state::linked) {
      ++next;
      continue;
    }
    next = named_.erase(next);
    x.addresses.erase(std::find(x.addresses.begin(), x.addresses.end(), where));
    if (!x.addresses.empty())
      continue;
    x.said.reset();
    // A ban stays, and a dial under way is waited for.
    if (x.state == state::known && !x.banned_until)
      rows_.erase(at);
  }
}

bool peer_ledger::may_dial(const row& x) const {
  return x.state != state::linked && !x.addresses.empty();
}

bool peer_ledger::may_dial(const seed& x) const {
  return !x.is_self && !(x.holder && is_linked(*x.holder));
}

const progress_report* peer_ledger::last_report(const peer_id& who) const {
  auto at = rows_.find(who);
  return at != rows_.end() && at->second.said ? &*at->second.said : nullptr;
}

std::vector<contact>
peer_ledger::due_for_dial(time_point now, std::size_t limit,
                          const std::function<bool(const peer_id&)>& wanted) {
  // Whose dial never ended has failed.
  for (auto& [where, x] : seeds_)
    if (x.dialling && x.dial.due <= now)
      dial_failed({peer_id{}, where}, now);

  using candidate = std::tuple<unsigned, time_point, peer_id, address>;
  std::vector<candidate> due;
  for (auto& [id, x] : rows_) {
    if (x.state == state::dialling && x.dial.due <= now)
      dial_failed({id, {}}, now);
    const bool banned = x.banned_until && *x.banned_until > now;
    if (may_dial(x) && x.state == state::known && x.dial.due <= now && !banned
        && (!wanted || wanted(id)))
      due.emplace_back(x.dial.failures, x.dial.due, id, x.addresses.front());
  }
  for (auto& [where, x] : seeds_)
    if (may_dial(x) && !x.dialling && x.dial.due <= now
        && (!wanted || wanted(peer_id{})))
      due.emplace_back(x.dial.failures, x.dial.due, peer_id{}, where);
  std::sort(due.begin(), due.end());
  if (due.size() > limit)
    due.resize(limit);

  std::vector<contact> result;
  for (const auto& [failures, when, id, where] : due) {
    result.push_back({id, where});
    if (id.empty()) {
      seeds_[where].dialling = true;
      seeds_[where].dial.due = now + dial_patience;
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
    if (may_dial(x))
      offer(x.banned_until ? std::max(x.dial.due, *x.banned_until)
                           : x.dial.due);
  for (const auto& [where, x] : seeds_)
    if (may_dial(x))
      offer(x.dial.due);
  return next;
}

bool peer_ledger::connected(const contact& who, role what, time_point now) {
  if (who.id == self_ || who.id.empty() || is_banned(who.id, now))
    return false;
  auto at = rows_.find(who.id);
  auto* x = at != rows_.end() ? &at->second : make_room(who.id, true, now);
  if (x == nullptr)
    return false;
  note(who.id, *x, who.where, true);
  if (dialable(who.where) && hold(who.where, who.id))
    vacate(who.where, who.id);
  x->role = what;
  x->proven = true;
  if (x->state != state::linked)
    x->linked_since = now;
  x->state = state::linked;
  x->vouched = now;
  return true;
}

void peer_ledger::reached(const address& where, const peer_id& who,
                          time_point now) {
  if (who == self_) {
    if (own_.size() >= max_own_addresses && own_.count(where) == 0)
      own_.erase(own_.begin());
    own_[where] = now + own_address_life;
    vacate(where, self_);
  }
  auto at = seeds_.find(where);
  if (at == seeds_.end())
    return;
  auto& x = at->second;
  x.dialling = false;
  x.is_self = who == self_;
  x.holder = who;
  // From here on the peer's own row says when to dial it again; the seed only
  // helps out, should that fail.
  x.dial = {now + longest_backoff, 0};
  if (is_banned(who, now))
    x.dial.due = *rows_.at(who).banned_until;
}

bool peer_ledger::hold(const address& where, const peer_id& who) {
  if (!held_.emplace(where, who).second)
    return false;
  holdings_.emplace(who, where);
  return true;
}

void peer_ledger::release(const peer_id& who) {
  auto first = holdings_.lower_bound({who, address{}});
  auto last = first;
  for (; last != holdings_.end() && last->first == who; ++last)
    held_.erase(last->second);
  holdings_.erase(first, last);
}

void peer_ledger::disconnected(const peer_id& who, parting why,
                               time_point now) {
  if (who == self_ || who.empty())
    return;
  release(who);
  const bool bans = why == parting::refused || why == parting::misbehaved;
  for (auto& [where, x] : seeds_)
    if (x.holder == who)
      x.dial.due = std::max(x.dial.due, now + (bans ? ban : longest_backoff));
  auto at = rows_.find(who);
  if (bans) {
    auto* x = at != rows_.end() ? &at->second : make_room(who, false, now);
    if (x == nullptr)
      return;
    x->state = state::known;
    x->dial.due = now + ban;
    x->banned_until = now + ban;
    x->said.reset();
  } else if (at == rows_.end()) {
    return;
  } else if (why == parting::left) {
    forget(at);
  } else {
    auto& x = at->second;
    // Only a connection that lasted ends a row of failures.
    if (x.state == state::linked && now - x.linked_since >= longest_backoff)
      x.dial.failures = 0;
    x.state = state::known;
    x.vouched = now;
    x.dial.failed(now, random_);
  }
}

void peer_ledger::dial_failed(const contact& who, time_point now) {
  if (who.id.empty()) {
    auto at = seeds_.find(who.where);
    if (at == seeds_.end() || !at->second.dialling)
      return;
    at->second.dialling = false;
    at->second.dial.failed(now, random_);
    return;
  }
  auto at = rows_.find(who.id);
  if (at == rows_.end() || at->second.state != state::dialling)
    return; // It has dialled us meanwhile, or nobody asked for this dial.
  auto& x = at->second;
  x.state = state::known;
  x.dial.failed(now, random_);
  if (!x.addresses.empty())
    std::rotate(x.addresses.begin(), x.addresses.begin() + 1,
                x.addresses.end());
}

unsigned peer_ledger::most_failed_seed_dials() const {
  unsigned most = 0;
  for (const auto& [where, x] : seeds_)
    most = std::max(most, x.dial.failures);
  return most;
}

peer_ledger::verdict peer_ledger::report(const progress_report& said,
                                         time_point now, duration age) {
  if (said.id == self_)
    return verdict::itself;
  if (said.id.empty() || age < duration::zero()
      || said.where.host.size() > max_host_bytes
      || !plausible(said.samples_per_second, most_samples_per_second)
      || !plausible(said.upload_bytes_per_second, most_bytes_per_second)
      || !plausible(said.download_bytes_per_second, most_bytes_per_second)
      || !plausible(said.loss) || said.history_samples > most_history_samples)
    return verdict::nonsense;
  const auto said_at = now - age;
  auto at = rows_.find(said.id);
  const bool added = at == rows_.end();
  if (!added && at->second.banned_until && *at->second.banned_until > now)
    return verdict::banned;
  // Nearly always: it is linked, and where it was.
  const bool linked = !added && at->second.state == state::linked;
  const bool named = linked && names(at->second, said.where);
  const bool gone = !named && taken(said.where, said.id, now);
  // What a peer said before it got another identity: nobody is there.
  if (gone && !linked)
    return verdict::replaced;
  auto* x = added ? make_room(said.id, false, now) : &at->second;
  if (x == nullptr)
    return verdict::full;
  // A record is found again and again while it lives.
  if (x->said
      && (x->said_at > said_at
          || (age > duration::zero() && said_at - x->said_at < same_record)))
    return verdict::older;
  if (!named && !gone)
    note(said.id, *x, said.where, false);
  x->role = said.role;
  x->said = said;
  x->said_at = said_at;
  if (x->dial.failures == 0)
    x->vouched = std::max(x->vouched, said_at);
  return added ? verdict::added : verdict::known;
}

std::vector<progress_report> peer_ledger::reports(time_point now,
                                                  duration max_age) const {
  std::vector<progress_report> result;
  for (const auto& [id, x] : rows_)
    if (x.said && now - x.said_at <= max_age && !is_banned(id, now))
      result.push_back(*x.said);
  return result;
}

void peer_ledger::forget_stale(time_point now) {
  for (auto at = rows_.begin(); at != rows_.end();) {
    auto& x = at->second;
    if (x.banned_until && *x.banned_until <= now)
      x.banned_until.reset();
    const bool stale = x.state == state::known && !x.banned_until
                       && now - x.vouched >= forget_after
                       && (!x.said || now - x.said_at >= forget_after);
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

std::vector<peer_ledger::peer> peer_ledger::peers() const {
  std::vector<peer> result;
  for (const auto& [id, x] : rows_) {
    peer line;
    line.who.id = id;
    if (!x.addresses.empty())
      line.who.where = x.addresses.front();
    line.role = x.role;
    line.linked = x.state == state::linked;
    line.failures = line.linked ? 0 : x.dial.failures;
    line.banned_until = x.banned_until;
    result.push_back(line);
  }
  return result;
}

} // namespace potluck
