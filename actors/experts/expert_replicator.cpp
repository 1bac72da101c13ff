#include "actors/experts/expert_replicator.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "messages/limits.hpp"
#include "runtime/config.hpp"

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

void expert_replicator_state::on(const letter& x) {
  if (auto offer = std::get_if<replica_offer>(&x.content))
    read_offer(x, *offer);
  else if (auto answer = std::get_if<replica_reply>(&x.content))
    read_reply(x.from, *answer);
  else if (auto chunk = std::get_if<replica_chunk>(&x.content))
    read_chunk(x, *chunk);
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
  if (adopting_.count(x.uid) != 0)
    tell("took over", x.uid, x.term, x.version);
  adopted(x.uid, replica_standing::serving);
}

void expert_replicator_state::on(const expert_dropped& x) {
  served_.erase(x.uid);
  plan_->drop(x.uid);
  adopted(x.uid, replica_standing::refused);
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
  // To an earlier offer of the same expert, or of its replica: that of the last
  // version may be under way when the expert is handed over.
  if (x.term != offer.term || x.version != offer.version
      || (x.standing == replica_standing::held && offer.hand_over)
      || (x.standing == replica_standing::serving && !offer.hand_over))
    return;
  auto refuse = [&] {
    plan_->refused(x.uid, from, now);
    outgoing_.erase(o);
    send_offers(now);
  };
  switch (x.standing) {
    case replica_standing::wanted: {
      const auto& bytes = o->second.kept->bytes;
      if (x.offset >= bytes.size())
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
      plan_->held(x.uid, from, now);
      outgoing_.erase(o);
      send_offers(now);
      break;
    case replica_standing::serving:
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
