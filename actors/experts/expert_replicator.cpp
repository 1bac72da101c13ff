#include "actors/experts/expert_replicator.hpp"

#include <utility>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/strangers/home_of.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// Between two looks at all this; look-ups and publications begun at one.
constexpr auto replicator_interval = 250ms;
constexpr std::size_t replicator_lookups_at_once = 16;

} // namespace

void expert_replicator_state::init(expert_replicator_actor::pointer self,
                                   expert_replicator_config config) {
  self_ = self;
  config_ = std::move(config);
  const auto& c = config_;
  sender_.emplace(c.self, c.kind);
  guard_.emplace(c.self, c.kind, c.spare);
  rivals_.emplace(c.self);
  questions_.emplace(c.run, c.self);
  notices_.emplace(c.run, c.self, c.kind);
  disk_ = std::make_shared<worker>(c.mode, 5);
  self_->send(self_, tick{});
}

time_point expert_replicator_state::now() const {
  return self_->clock().now();
}

void expert_replicator_state::on(const expert_replicator_handles& w) {
  if (w.router != wired_.router)
    questions_->forget(); // What is due is asked again.
  wired_ = w;
}

void expert_replicator_state::on(const peer_joined& x) {
  connected_.insert(x.who.id);
  guard_->joined(x.who.id, home_of(x.who.where.host));
}

void expert_replicator_state::on(const peer_left& x) {
  connected_.erase(x.id);
  sender_->lost(x.id, now());
  guard_->lost(x.id);
}

void expert_replicator_state::on(const reachable_at& x) {
  sender_->reachable(x.where);
  guard_->reachable(x.where);
  notices_->reachable(x.where);
}

void expert_replicator_state::on(const letter& x) {
  if (auto offer = std::get_if<replica_offer>(&x.content))
    perform(guard_->offered(x.from, *offer, now()));
  else if (auto chunk = std::get_if<replica_chunk>(&x.content))
    perform(guard_->chunk(x.from, *chunk, x.body, now()));
  else if (auto reply = std::get_if<replica_reply>(&x.content))
    perform(sender_->answered(x.from, *reply, now()));
}

void expert_replicator_state::on(const tick&) {
  if (wired_.router && wired_.gateway) {
    for (auto& record : notices_->due(now(), guard_->room()))
      self_->send(wired_.router, publish_record{record});
    ask_around(now());
    perform(sender_->due(now()));
    perform(guard_->due(now()));
  }
  self_->delayed_send(self_, replicator_interval, tick{});
}

template <class Actions>
void expert_replicator_state::perform(const Actions& actions) {
  for (auto& x : actions)
    std::visit([&](auto& y) { carry_out(y); }, x);
}

void expert_replicator_state::fault(const std::string& what,
                                    const std::string& detail) {
  if (wired_.observer)
    self_->send(wired_.observer, fault_news(what, detail));
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

// ---- experts of this host

void expert_replicator_state::on(const expert_stored& x) {
  // How much others' may be.
  if (!std::exchange(knows_bytes_, true)) {
    replication_plan::offer nobodys;
    nobodys.uid = x.uid;
    carry_out(replica_sender::read_shelf{nobodys, x.adopted});
  }
  sender_->saved(x.uid, x.term, x.version, x.adopted);
  rivals_->serves(x.uid, x.term, now());
  perform(guard_->serves(x.uid, x.term, x.version, x.adopted, now()));
}

void expert_replicator_state::on(const expert_dropped& x) {
  sender_->dropped(x.uid);
  rivals_->dropped(x.uid);
  perform(guard_->dropped(x.uid, now()));
}

void expert_replicator_state::on(const hand_over_expert& x) {
  guard_->leave();
  rivals_->leave();
  notices_->hurry(); // That there is no room here.
  perform(sender_->hand_over(x.uid, now()));
}

void expert_replicator_state::carry_out(const replica_sender::read_shelf& x) {
  disk_->post(
      [what = x.what,
       shelf = x.adopted ? config_.shelves.adopted : config_.shelves.own,
       outbox = caf::actor_cast<expert_replicator_actor>(self_)] {
        replica_read done{what, std::make_shared<shelved_expert>(), {}};
        if (auto kept = shelf->get(what.uid)) {
          done.sum = digest_of(kept->bytes.data(), kept->bytes.size());
          done.kept = std::make_shared<shelved_expert>(std::move(*kept));
        }
        caf::anon_send(outbox, done);
      });
}

void expert_replicator_state::on(const replica_read& x) {
  guard_->own_bytes(x.kept->bytes.size());
  perform(sender_->read(x.what, x.kept, x.sum, now()));
}

void expert_replicator_state::carry_out(const replica_sender::make_offer& x) {
  self_->send(wired_.gateway, call{x.to, x.what, {}});
}

void expert_replicator_state::carry_out(const replica_sender::send_chunk& x) {
  post(self_, wired_.letters, parcel{x.to, x.what, x.body});
}

void expert_replicator_state::carry_out(const replica_sender::let_go& x) {
  self_->send(config_.host, expert_handed_over{x.uid, x.served});
}

// ---- experts of others

void expert_replicator_state::carry_out(const replica_guard::answer& x) {
  post(self_, wired_.letters, parcel{x.to, x.what, {}});
}

void expert_replicator_state::carry_out(const replica_guard::store& x) {
  disk_->post([x, shelf = config_.shelves.replicas,
               outbox = caf::actor_cast<expert_replicator_actor>(self_)] {
    replica_written done{x.what, x.from, ""};
    done.wrong_sum = digest_of(x.bytes->data(), x.bytes->size()) != x.what.sum;
    if (!done.wrong_sum) {
      auto put = shelf->put(x.what.uid,
                            {x.what.term, x.what.version, std::move(*x.bytes)});
      if (!put)
        done.problem = put.error();
    }
    caf::anon_send(outbox, done);
  });
}

void expert_replicator_state::on(const replica_written& x) {
  if (x.wrong_sum && wired_.roster)
    self_->send(wired_.roster,
                offence_seen{x.from, misconduct::witness::alone,
                             "replica of " + x.what.uid,
                             "sent other bytes of an expert than it offered"});
  if (!x.problem.empty())
    fault("cannot keep a replica of " + x.what.uid, x.problem);
  auto good = !x.wrong_sum && x.problem.empty();
  perform(guard_->written(x.what, x.from, good, now()));
}

void expert_replicator_state::carry_out(const replica_guard::move_replica& x) {
  disk_->post([x, shelves = config_.shelves,
               outbox = caf::actor_cast<expert_replicator_actor>(self_)] {
    replica_moved done{x.uid, ""};
    auto kept = shelves.replicas->get(x.uid);
    if (!kept || kept->bytes.empty()) {
      done.problem = kept ? "the replica is gone" : kept.error();
    } else {
      kept->term = x.term;
      auto put = shelves.adopted->put(x.uid, std::move(*kept));
      if (put)
        shelves.replicas->remove(x.uid);
      else
        done.problem = put.error();
    }
    caf::anon_send(outbox, done);
  });
}

void expert_replicator_state::on(const replica_moved& x) {
  if (!x.problem.empty())
    fault("cannot take over expert " + x.uid, x.problem);
  perform(guard_->moved(x.uid, x.problem.empty(), now()));
}

void expert_replicator_state::carry_out(
    const replica_guard::forget_replica& x) {
  disk_->post(
      [uid = x.uid, shelf = config_.shelves.replicas] { shelf->remove(uid); });
}

void expert_replicator_state::carry_out(const replica_guard::publish& x) {
  self_->send(wired_.router,
              publish_record{replica_record(config_.run, x.uid, x.what)});
}

void expert_replicator_state::carry_out(const replica_guard::serve& x) {
  self_->send(config_.host, adopt_expert{x.uid});
}

void expert_replicator_state::carry_out(const replica_guard::taken_over& x) {
  tell("took over", x.uid, x.term, x.version);
}

// ---- questions to the DHT

void expert_replicator_state::ask(replica_questions::question x) {
  for (auto& key : questions_->ask(std::move(x)))
    self_->send(
        wired_.router,
        look_up_records{key, caf::actor_cast<expert_replicator_actor>(self_)});
}

void expert_replicator_state::ask_around(time_point now) {
  using questions = replica_questions;
  if (questions_->hosts_due(now))
    ask(questions::hosts{});
  auto left = replicator_lookups_at_once;
  for (auto& owner : guard_->owners_due(now, left)) {
    ask(questions::lease{owner});
    --left;
  }
  for (auto& q : guard_->questions(now, left)) {
    ask(questions::orphan{q});
    --left;
  }
  for (auto& uid : rivals_->due(now, left))
    ask(questions::rivals{uid});
}

void expert_replicator_state::on(const records_looked_up& x) {
  for (auto& answer : questions_->answered(x.key, x.records, x.answers))
    std::visit([&](auto& y) { heard(y); }, answer);
}

void expert_replicator_state::heard(replica_questions::hosts& x) {
  sender_->hosts(std::move(x.known));
}

void expert_replicator_state::heard(const replica_questions::lease& x) {
  guard_->lease(x.owner, x.there, connected_.count(x.owner) != 0, now());
}

void expert_replicator_state::heard(const replica_questions::rivals& x) {
  if (auto rival = rivals_->better(x.uid, x.hosts))
    ask(replica_questions::rival_lease{x.uid, *rival});
}

void expert_replicator_state::heard(const replica_questions::rival_lease& x) {
  if (!rivals_->has(x.uid) || (!x.there && connected_.count(x.rival.host) == 0))
    return;
  tell("gave way with", x.uid, x.rival.term, 0);
  self_->send(config_.host, give_way{x.uid, x.rival});
}

void expert_replicator_state::heard(const replica_questions::orphan& x) {
  perform(guard_->found(x.what, *x.hosts, *x.guards, now()));
}

expert_replicator_actor::behavior_type expert_replicator(
    expert_replicator_actor::stateful_pointer<expert_replicator_state> self,
    expert_replicator_config config) {
  return behave<expert_replicator_actor, expert_replicator_state>(
      self, std::move(config));
}

} // namespace potluck
