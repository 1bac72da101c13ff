// What a replicator keeps for other hosts, and how it becomes an expert here.

#include "actors/experts/expert_replicator.hpp"
#include "runtime/config.hpp"
#include "runtime/dialable.hpp"
#include "runtime/experts/expert_uid.hpp"

namespace potluck {

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
    keep_record(x.uid, x.term, x.version);
    reply(from, x, replica_standing::held);
    return;
  }
  if (auto what = book_->take_offered(x.uid))
    adopt(x.uid, *what, from);
  else
    reply(from, x, replica_standing::refused);
}

void expert_replicator_state::keep_record(const std::string& uid,
                                          std::uint32_t term,
                                          std::uint64_t version) {
  auto& r = records_[uid];
  r.what.term = term;
  r.what.version = version;
  // A sample's values are the expert's business; one stands for all.
  r.what.inputs = r.what.outputs = 1;
  r.next = self_->clock().now();
}

void expert_replicator_state::adopt(const std::string& uid,
                                    const replica_book::replica& what,
                                    std::optional<peer_id> from) {
  auto& a = adopting_[uid];
  a.from = from;
  a.what.uid = uid;
  a.what.term = what.term;
  a.what.version = what.version;
  if (from) {
    records_.erase(uid);
  } else {
    keep_record(uid, what.term + 1, what.version); // The claim.
    publish_replica(uid, records_[uid]);
  }
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

void expert_replicator_state::adopted(const std::string& uid,
                                      replica_standing standing) {
  auto a = adopting_.find(uid);
  if (a != adopting_.end()) {
    const auto& x = a->second;
    if (x.from) {
      reply(*x.from, x.what, standing);
    } else if (auto r = records_.find(uid); r != records_.end()) {
      if (standing != replica_standing::serving) {
        // Others need not wait any longer, and nothing is left of it here.
        r->second.what.term = x.what.term;
        r->second.what.version = 0;
        publish_replica(uid, r->second);
      }
      records_.erase(r);
    }
    adopting_.erase(a);
  }
  count_adopted();
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

} // namespace potluck
