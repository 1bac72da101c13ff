#include "actors/expert_replicator.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "messages/limits.hpp"
#include "runtime/config.hpp"
#include "runtime/dialable.hpp"
#include "runtime/experts/expert_records.hpp"

namespace potluck {

void expert_replicator_state::init(expert_replicator_actor::pointer self,
                                   expert_replicator_config config) {
  self_ = self;
  config_ = std::move(config);
  plan_.emplace(config_.self, config_.kind);
  book_.emplace(config_.self, config_.kind, config_.spare);
  disk_ = std::make_shared<worker>(config_.mode, 5);
  auto now = self_->clock().now();
  next_lease_ = next_notice_ = next_hosts_look_ = now;
  self_->send(self_, tick{});
}

void expert_replicator_state::on(const wiring& w) {
  if (w.router != wired_.router)
    asked_.clear(); // Its answers are lost; what is due is asked again.
  wired_ = w;
}

void expert_replicator_state::on(const peer_joined& x) {
  connected_.insert(x.who.id);
}

void expert_replicator_state::on(const peer_left& x) {
  connected_.erase(x.id);
  plan_->lost(x.id, self_->clock().now());
  for (auto i = outgoing_.begin(); i != outgoing_.end();)
    i = i->first.second == x.id ? outgoing_.erase(i) : std::next(i);
  for (auto i = incoming_.begin(); i != incoming_.end();)
    i = i->second.bytes.from() == x.id ? incoming_.erase(i) : std::next(i);
}

void expert_replicator_state::on(const reachable_at& x) {
  where_ = x.where;
}

// ---- experts of this host
// ---------------------------------------------------------------

void expert_replicator_state::on(const expert_stored& x) {
  auto [i, fresh] = served_.try_emplace(x.uid);
  i->second.term = x.term;
  i->second.adopted = x.adopted;
  if (fresh)
    i->second.next_look = self_->clock().now();
  plan_->saved(x.uid, x.term, x.version);
  auto a = adopting_.find(x.uid);
  if (a != adopting_.end()) {
    tell("took over", x.uid, x.term, x.version);
    if (a->second) {
      replica_offer about;
      about.uid = x.uid;
      about.term = x.term - 1;
      about.version = x.version;
      reply(*a->second, about, replica_standing::serving);
    }
    adopting_.erase(a);
  }
  count_adopted();
}

void expert_replicator_state::on(const expert_dropped& x) {
  served_.erase(x.uid);
  plan_->drop(x.uid);
  auto a = adopting_.find(x.uid);
  if (a != adopting_.end()) {
    if (a->second) {
      replica_offer about;
      about.uid = x.uid;
      reply(*a->second, about, replica_standing::refused);
    }
    adopting_.erase(a);
  }
  count_adopted();
}

void expert_replicator_state::on(const hand_over_expert& x) {
  leaving_ = true;
  next_notice_ = self_->clock().now(); // That there is no room here.
  plan_->hand_over(x.uid);
  send_offers(self_->clock().now());
}

void expert_replicator_state::send_offers(time_point now) {
  plan_->expire(now);
  while (auto what = plan_->next(now)) {
    auto s = served_.find(what->uid);
    auto shelf = s != served_.end() && s->second.adopted
                     ? config_.shelves.adopted
                     : config_.shelves.own;
    disk_->post([what = *what, shelf,
                 outbox = caf::actor_cast<expert_replicator_actor>(self_)] {
      replica_read x{what, std::make_shared<shelved_expert>(), {}};
      if (auto kept = shelf->get(what.uid)) {
        x.sum = digest_of(kept->bytes.data(), kept->bytes.size());
        x.kept = std::make_shared<shelved_expert>(std::move(*kept));
      }
      caf::anon_send(outbox, x);
    });
  }
  for (auto& uid : plan_->unwanted(now))
    self_->send(config_.host, expert_handed_over{uid, false});
}

void expert_replicator_state::on(const replica_read& x) {
  auto now = self_->clock().now();
  auto what = plan_->under_way(x.what.uid, x.what.guard.id);
  if (!what || what->version != x.what.version
      || what->hand_over != x.what.hand_over)
    return;
  if (x.kept->bytes.empty() || where_.host.empty() || where_.port == 0
      || !wired_.gateway) {
    plan_->refused(x.what.uid, x.what.guard.id, now);
    return;
  }
  replica_offer offer;
  offer.uid = what->uid;
  offer.term = what->term;
  offer.version = what->version;
  offer.bytes = x.kept->bytes.size();
  offer.sum = x.sum;
  offer.kind = config_.kind;
  offer.owner = {config_.self, where_};
  offer.hand_over = what->hand_over;
  outgoing_[{what->uid, what->guard.id}] = {offer, x.kept};
  self_->send(wired_.gateway, call{what->guard, offer, {}});
}

void expert_replicator_state::read_reply(const peer_id& from,
                                         const replica_reply& x) {
  auto now = self_->clock().now();
  auto o = outgoing_.find({x.uid, from});
  if (o == outgoing_.end() || !plan_->under_way(x.uid, from))
    return;
  const auto& offer = o->second.what;
  auto refuse = [&] {
    plan_->refused(x.uid, from, now);
    outgoing_.erase(o);
    send_offers(now);
  };
  switch (x.standing) {
    case replica_standing::wanted: {
      const auto& bytes = o->second.kept->bytes;
      if (x.version != offer.version || x.offset >= bytes.size())
        return;
      plan_->progress(x.uid, from, now);
      auto end = std::min<std::size_t>(bytes.size(), x.offset + x.length);
      for (std::size_t at = x.offset; at < end; at += replica_chunk_bytes)
        self_->send(
            wired_.gateway,
            parcel{from,
                   replica_chunk{x.uid, offer.term, offer.version, at},
                   {o->second.kept, bytes.data() + at,
                    std::min<std::size_t>(replica_chunk_bytes, end - at)}});
      break;
    }
    case replica_standing::held:
      if (offer.hand_over) {
        refuse();
        break;
      }
      plan_->held(x.uid, from, now);
      outgoing_.erase(o);
      send_offers(now);
      break;
    case replica_standing::serving:
      if (!offer.hand_over) {
        refuse();
        break;
      }
      outgoing_.erase(o);
      plan_->drop(x.uid);
      served_.erase(x.uid);
      self_->send(config_.host, expert_handed_over{x.uid, true});
      send_offers(now);
      break;
    case replica_standing::refused:
      refuse();
      break;
  }
}

// ---- experts of others
// -----------------------------------------------------------------

void expert_replicator_state::on(const letter& x) {
  if (auto offer = std::get_if<replica_offer>(&x.content))
    read_offer(x, *offer);
  else if (auto answer = std::get_if<replica_reply>(&x.content))
    read_reply(x.from, *answer);
  else if (auto chunk = std::get_if<replica_chunk>(&x.content))
    read_chunk(x, *chunk);
}

void expert_replicator_state::reply(const peer_id& to,
                                    const replica_offer& about,
                                    replica_standing standing) {
  if (wired_.gateway)
    self_->send(wired_.gateway,
                parcel{to,
                       replica_reply{about.uid, about.term, about.version,
                                     standing, 0, 0},
                       {}});
}

void expert_replicator_state::read_offer(const letter& x,
                                         const replica_offer& offer) {
  auto now = self_->clock().now();
  auto no = [&] { reply(x.from, offer, replica_standing::refused); };
  auto s = served_.find(offer.uid);
  auto ours
      = s != served_.end()
        && tenure{offer.term, x.from} < tenure{s->second.term, config_.self};
  if (leaving_ || ours || offer.owner.id != x.from || !dialable(offer.owner)
      || !parse_expert_uid(offer.uid) || adopting_.count(offer.uid) != 0)
    return no();
  switch (book_->offered(offer, now)) {
    case replica_book::verdict::refused:
      return no();
    case replica_book::verdict::held:
      return kept(offer, x.from);
    case replica_book::verdict::wanted:
      break;
  }
  auto under_way = incoming_.find(offer.uid);
  if (under_way != incoming_.end()) {
    if (under_way->second.bytes.from() != x.from)
      return no();
    incoming_.erase(under_way); // It begins anew.
  }
  if (incoming_.size() >= limits::replicas_received_at_once)
    return no();
  auto i = incoming_
               .emplace(offer.uid,
                        incoming{{offer, x.from},
                                 now + duration{limits::replica_patience}})
               .first;
  self_->send(wired_.gateway, parcel{x.from, i->second.bytes.wanted(), {}});
}

void expert_replicator_state::read_chunk(const letter& x,
                                         const replica_chunk& chunk) {
  auto i = incoming_.find(chunk.uid);
  if (i == incoming_.end() || i->second.bytes.from() != x.from)
    return;
  auto& intake = i->second.bytes;
  switch (intake.add(chunk, x.body.data, x.body.size)) {
    case replica_intake::verdict::more:
      break;
    case replica_intake::verdict::window:
      i->second.deadline
          = self_->clock().now() + duration{limits::replica_patience};
      self_->send(wired_.gateway, parcel{x.from, intake.wanted(), {}});
      break;
    case replica_intake::verdict::wrong:
      // Of an earlier offer, perhaps: those are under way no more than once.
      break;
    case replica_intake::verdict::whole: {
      auto what = intake.what();
      auto bytes = std::make_shared<std::vector<std::uint8_t>>(intake.take());
      incoming_.erase(i);
      disk_->post([what, bytes, from = x.from, shelf = config_.shelves.replicas,
                   outbox = caf::actor_cast<expert_replicator_actor>(self_)] {
        replica_written done{what, from, ""};
        done.wrong_sum = digest_of(bytes->data(), bytes->size()) != what.sum;
        if (!done.wrong_sum) {
          auto put = shelf->put(what.uid,
                                {what.term, what.version, std::move(*bytes)});
          if (!put)
            done.problem = put.error();
        }
        caf::anon_send(outbox, done);
      });
      break;
    }
  }
}

void expert_replicator_state::on(const replica_written& x) {
  if (x.wrong_sum && wired_.roster)
    self_->send(wired_.roster,
                offence_seen{x.from, misconduct::witness::alone,
                             "replica of " + x.what.uid,
                             "sent other bytes of an expert than it offered"});
  if (!x.problem.empty() && wired_.observer)
    self_->send(wired_.observer,
                event{"fault",
                      {{"what", "cannot keep a replica of " + x.what.uid},
                       {"detail", x.problem}}});
  if (x.wrong_sum || !x.problem.empty()) {
    reply(x.from, x.what, replica_standing::refused);
    return;
  }
  book_->keep(x.what, self_->clock().now());
  kept(x.what, x.from);
}

void expert_replicator_state::kept(const replica_offer& x,
                                   const peer_id& from) {
  if (!x.hand_over) {
    auto& r = records_[x.uid];
    r.what.version = x.version;
    r.what.term = x.term;
    // A sample's values are the expert's business; one stands for all.
    r.what.inputs = r.what.outputs = 1;
    r.next = self_->clock().now();
    reply(from, x, replica_standing::held);
    return;
  }
  if (auto what = book_->take_offered(x.uid))
    adopt(x.uid, *what, from);
  else
    reply(from, x, replica_standing::refused);
}

void expert_replicator_state::adopt(const std::string& uid,
                                    const replica_book::replica& what,
                                    std::optional<peer_id> from) {
  adopting_[uid] = from;
  records_.erase(uid);
  count_adopted();
  disk_->post([uid, term = what.term + 1, shelves = config_.shelves,
               outbox = caf::actor_cast<expert_replicator_actor>(self_)] {
    replica_moved x{uid, ""};
    auto kept = shelves.replicas->get(uid);
    if (!kept || kept->bytes.empty()) {
      x.problem = kept ? "the replica is gone" : kept.error();
    } else {
      kept->term = term;
      auto put = shelves.adopted->put(uid, std::move(*kept));
      if (put)
        shelves.replicas->remove(uid);
      else
        x.problem = put.error();
    }
    caf::anon_send(outbox, x);
  });
}

void expert_replicator_state::on(const replica_moved& x) {
  if (x.problem.empty()) {
    self_->send(config_.host, adopt_expert{x.uid});
    return;
  }
  if (wired_.observer)
    self_->send(wired_.observer,
                event{"fault",
                      {{"what", "cannot take over expert " + x.uid},
                       {"detail", x.problem}}});
  on(expert_dropped{x.uid});
}

void expert_replicator_state::take_over(time_point now) {
  while (auto x = leaving_ ? std::nullopt : book_->take(now)) {
    auto s = served_.find(x->first);
    if (s == served_.end() && adopting_.count(x->first) == 0)
      adopt(x->first, x->second, std::nullopt);
  }
  for (auto& uid : book_->forget_old(now)) {
    records_.erase(uid);
    disk_->post(
        [uid, shelf = config_.shelves.replicas] { shelf->remove(uid); });
  }
  for (auto i = incoming_.begin(); i != incoming_.end();)
    i = i->second.deadline <= now ? incoming_.erase(i) : std::next(i);
}

void expert_replicator_state::count_adopted() {
  auto count = adopting_.size();
  for (auto& [uid, s] : served_)
    count += s.adopted && adopting_.count(uid) == 0;
  book_->adopted(count);
}

// ---- the DHT
// ---------------------------------------------------------------------------

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
    if (q.replicas)
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
      if (!q.hosts || (q.what.replicas && !q.guards))
        break;
      auto whole = std::move(q);
      inquiries_.erase(i);
      book_->answered(whole.what, *whole.hosts,
                      whole.guards.value_or(std::vector<expert_announcement>{}),
                      now);
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
    r.next = now + duration{limits::announcement_renewal};
    r.what.host = notice.host;
    self_->send(wired_.router,
                publish_record{replica_record(config_.run, uid, r.what), {}});
    --left;
  }
}

void expert_replicator_state::tell(const std::string& what,
                                   const std::string& uid, std::uint32_t term,
                                   std::uint64_t version) {
  if (wired_.observer)
    self_->send(wired_.observer, event{"expert_moved",
                                       {{"what", what},
                                        {"expert", uid},
                                        {"term", std::uint64_t{term}},
                                        {"version", version}}});
}

void expert_replicator_state::on(const tick&) {
  auto now = self_->clock().now();
  if (wired_.router && wired_.gateway) {
    publish(now);
    ask_around(now);
    send_offers(now);
    take_over(now);
  }
  self_->delayed_send(self_, limits::replicator_interval, tick{});
}

expert_replicator_actor::behavior_type expert_replicator(
    expert_replicator_actor::stateful_pointer<expert_replicator_state> self,
    expert_replicator_config config) {
  return behave<expert_replicator_actor, expert_replicator_state>(
      self, std::move(config));
}

} // namespace potluck
