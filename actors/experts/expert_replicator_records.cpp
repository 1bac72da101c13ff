// What a replicator asks the DHT, and what it tells it: hosts, leases, rivals,
// guards.

#include <algorithm>

#include "actors/experts/expert_replicator.hpp"
#include "messages/limits.hpp"
#include "runtime/config.hpp"
#include "runtime/experts/expert_records.hpp"

namespace potluck {

void expert_replicator_state::look_up(const record_key& key, purpose why) {
  auto fresh = asked_.count(key) == 0;
  asked_.emplace(key, std::move(why));
  if (fresh)
    self_->send(
        wired_.router,
        look_up_records{key, caf::actor_cast<expert_replicator_actor>(self_)});
}

void expert_replicator_state::ask_around(time_point now) {
  using kind = purpose::kind;
  const auto& run = config_.run;
  if (now >= next_hosts_look_) {
    next_hosts_look_
        = now
          + (hosts_known_ == 0 ? duration{limits::expert_hosts_first_look}
                               : duration{limits::expert_hosts_look});
    look_up(hosts_key(run), {kind::hosts, "", {}, {}});
  }
  auto left = limits::replicator_lookups_at_once;
  for (auto& owner : book_->owners_due(now, left)) {
    look_up(lease_key(run, owner), {kind::lease, "", owner, {}});
    --left;
  }
  for (auto& q : book_->questions(now, left)) {
    inquiries_[q.uid] = {q, std::nullopt, std::nullopt};
    look_up(expert_key(run, q.uid), {kind::heirs, q.uid, {}, {}});
    look_up(replicas_key(run, q.uid), {kind::guards, q.uid, {}, {}});
    left -= left > 0;
  }
  for (auto& [uid, s] : served_) {
    if (left == 0)
      break;
    if (now < s.next_look || leaving_)
      continue;
    s.next_look = now + duration{limits::expert_rivals_look};
    look_up(expert_key(run, uid), {kind::rivals, uid, {}, {}});
    --left;
  }
}

void expert_replicator_state::on(const records_looked_up& x) {
  auto [begin, end] = asked_.equal_range(x.key);
  std::vector<purpose> why;
  for (auto i = begin; i != end; ++i)
    why.push_back(i->second);
  asked_.erase(begin, end);
  for (auto& p : why)
    on_answer(p, x);
}

void expert_replicator_state::on_answer(const purpose& why,
                                        const records_looked_up& x) {
  using kind = purpose::kind;
  auto now = self_->clock().now();
  switch (why.what) {
    case kind::hosts: {
      auto hosts = notices_in(x.records);
      hosts_known_ = hosts.size()
                     - static_cast<std::size_t>(std::count_if(
                         hosts.begin(), hosts.end(),
                         [&](auto& h) { return h.host.id == config_.self; }));
      plan_->hosts(std::move(hosts));
      break;
    }
    case kind::lease:
      if (!x.records.empty() || x.answers > 0)
        book_->lease(why.who, !notices_in(x.records).empty(),
                     connected_.count(why.who) != 0, now);
      break;
    case kind::rivals:
      look_at_rivals(why, hosts_in(x.records));
      break;
    case kind::rival_lease:
      if (served_.count(why.uid) != 0
          && (connected_.count(why.rival.host) != 0
              || !notices_in(x.records).empty())) {
        tell("gave way with", why.uid, why.rival.term, 0);
        self_->send(config_.host, give_way{why.uid, why.rival});
      }
      break;
    case kind::heirs:
    case kind::guards: {
      auto i = inquiries_.find(why.uid);
      if (i == inquiries_.end())
        break;
      auto& q = i->second;
      (why.what == kind::heirs ? q.hosts : q.guards) = hosts_in(x.records);
      if (!q.hosts || !q.guards)
        break;
      auto whole = std::move(q);
      inquiries_.erase(i);
      book_->answered(whole.what, *whole.hosts, *whole.guards, now);
      take_over(now);
      break;
    }
  }
}

void expert_replicator_state::look_at_rivals(
    const purpose& why, const std::vector<expert_announcement>& hosts) {
  auto s = served_.find(why.uid);
  if (s == served_.end())
    return;
  auto best = tenure{s->second.term, config_.self};
  auto mine = best;
  for (auto& h : hosts)
    if (h.host.id != config_.self)
      best = std::max(best, tenure_of(h));
  // Its record may outlive it: only a host that lives is given way to.
  if (mine < best)
    look_up(lease_key(config_.run, best.host),
            {purpose::kind::rival_lease, why.uid, best.host, best});
}

void expert_replicator_state::publish(time_point now) {
  if (where_.host.empty() || where_.port == 0)
    return;
  expert_host_notice notice;
  notice.host = {config_.self, where_};
  notice.kind = config_.kind;
  notice.spare = static_cast<std::uint32_t>(
      leaving_ ? 0 : std::min<std::size_t>(book_->room(), max_spare));
  if (now >= next_lease_) {
    next_lease_ = now + duration{limits::expert_lease_renewal};
    self_->send(wired_.router,
                publish_record{lease_record(config_.run, notice), {}});
  }
  if (now >= next_notice_) {
    next_notice_ = now + duration{limits::expert_hosts_renewal};
    self_->send(wired_.router,
                publish_record{hosts_record(config_.run, notice), {}});
  }
  auto left = limits::announcements_at_once;
  for (auto& [uid, r] : records_) {
    if (left == 0)
      break;
    if (now < r.next)
      continue;
    publish_replica(uid, r);
    --left;
  }
}

void expert_replicator_state::publish_replica(const std::string& uid,
                                              kept_record& r) {
  if (!wired_.router || where_.host.empty() || where_.port == 0)
    return; // It stays due.
  r.next = self_->clock().now() + duration{limits::announcement_renewal};
  r.what.host = {config_.self, where_};
  self_->send(wired_.router,
              publish_record{replica_record(config_.run, uid, r.what), {}});
}

} // namespace potluck
