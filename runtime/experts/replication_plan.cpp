#include "runtime/experts/replication_plan.hpp"

#include <algorithm>

#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/guard_choice.hpp"
#include "runtime/experts/replica_intake.hpp"

namespace potluck {

void replication_plan::saved(const std::string& uid, std::uint32_t term,
                             std::uint64_t version) {
  auto& x = entries_[uid];
  x.term = term;
  x.version = version;
}

void replication_plan::drop(const std::string& uid) {
  auto i = entries_.find(uid);
  if (i == entries_.end())
    return;
  flights_ -= i->second.flight.has_value();
  entries_.erase(i);
}

void replication_plan::hand_over(const std::string& uid) {
  auto i = entries_.find(uid);
  if (i == entries_.end())
    return;
  i->second.leaving = true;
  i->second.pauses.clear(); // Who wants no replica may want the expert.
  // What is under way may be an older version.
  flights_ -= i->second.flight.has_value();
  i->second.flight.reset();
}

void replication_plan::hosts(std::vector<expert_host_notice> known) {
  hosts_ = std::move(known);
  for (auto& [uid, x] : entries_)
    for (auto i = x.guards.begin(); i != x.guards.end();) {
      auto there = std::any_of(hosts_.begin(), hosts_.end(),
                               [&](auto& h) { return h.host.id == i->first; });
      i = there ? std::next(i) : x.guards.erase(i);
    }
}

bool replication_plan::ready(const entry& x, const peer_id& host,
                             time_point now) const {
  auto pause = x.pauses.find(host);
  return pause == x.pauses.end() || pause->second <= now;
}

std::optional<contact> replication_plan::successor(const std::string& uid,
                                                   const entry& x,
                                                   time_point now) const {
  for (auto& [id, g] : x.guards)
    if (g.version == x.version && ready(x, id, now))
      return g.where;
  for (auto& h : guards_in_order(uid, self_, kind_, hosts_))
    if (ready(x, h.host.id, now))
      return h.host;
  return std::nullopt;
}

std::optional<contact> replication_plan::choose(const std::string& uid,
                                                const entry& x,
                                                time_point now) const {
  if (x.leaving)
    return successor(uid, x, now);
  for (auto& [id, g] : x.guards)
    if (ready(x, id, now)
        && (g.version < x.version
            || now - g.renewed >= duration{limits::replica_renewal}))
      return g.where;
  if (x.guards.size() >= limits::expert_guards)
    return std::nullopt;
  for (auto& h : guards_in_order(uid, self_, kind_, hosts_))
    if (x.guards.count(h.host.id) == 0 && ready(x, h.host.id, now))
      return h.host;
  return std::nullopt;
}

std::optional<replication_plan::offer> replication_plan::next(time_point now) {
  if (flights_ >= limits::replicas_sent_at_once || entries_.empty())
    return std::nullopt;
  auto i = entries_.upper_bound(last_);
  for (std::size_t n = 0; n < entries_.size(); ++n, ++i) {
    if (i == entries_.end())
      i = entries_.begin();
    auto& [uid, x] = *i;
    if (x.flight)
      continue;
    auto guard = choose(uid, x, now);
    if (!guard)
      continue;
    offer what{uid, *guard, x.term, x.version, x.leaving};
    x.flight = transfer{what, now + duration{limits::replica_answer_patience}};
    ++flights_;
    last_ = uid;
    return what;
  }
  return std::nullopt;
}

bool replication_plan::may_be_taken(const entry& x) const {
  return std::any_of(x.refusals.begin(), x.refusals.end(), [](auto& r) {
    return r.second < limits::hand_over_attempts;
  });
}

std::vector<std::string> replication_plan::unwanted(time_point now) {
  std::vector<std::string> result;
  for (auto& [uid, x] : entries_)
    if (x.leaving && !x.told && !x.flight && !successor(uid, x, now)
        && !may_be_taken(x)) {
      x.told = true;
      result.push_back(uid);
    }
  return result;
}

std::optional<replication_plan::offer>
replication_plan::under_way(const std::string& uid,
                            const peer_id& guard) const {
  auto i = entries_.find(uid);
  if (i == entries_.end() || !i->second.flight
      || i->second.flight->what.guard.id != guard)
    return std::nullopt;
  return i->second.flight->what;
}

void replication_plan::progress(const std::string& uid, const peer_id& guard,
                                time_point now) {
  if (under_way(uid, guard))
    entries_.at(uid).flight->deadline
        = now + duration{limits::replica_patience};
}

void replication_plan::held(const std::string& uid, const peer_id& guard,
                            time_point now) {
  auto what = under_way(uid, guard);
  if (!what)
    return;
  auto& x = entries_.at(uid);
  x.flight.reset();
  --flights_;
  x.pauses.erase(guard);
  x.guards[guard] = {what->guard, what->version, now};
}

void replication_plan::refused(const std::string& uid, const peer_id& guard,
                               time_point now) {
  if (!under_way(uid, guard))
    return;
  auto& x = entries_.at(uid);
  x.flight.reset();
  --flights_;
  x.guards.erase(guard);
  auto again = x.leaving && ++x.refusals[guard] < limits::hand_over_attempts;
  x.pauses[guard] = now
                    + (again ? duration{limits::hand_over_pause}
                             : duration{limits::replica_refusal_pause});
}

void replication_plan::lost(const peer_id& guard, time_point now) {
  for (auto& [uid, x] : entries_)
    refused(uid, guard, now);
}

void replication_plan::expire(time_point now) {
  for (auto& [uid, x] : entries_) {
    for (auto i = x.pauses.begin(); i != x.pauses.end();)
      i = i->second <= now ? x.pauses.erase(i) : std::next(i);
    if (x.flight && x.flight->deadline <= now)
      refused(uid, peer_id{x.flight->what.guard.id}, now);
  }
}

} // namespace potluck
