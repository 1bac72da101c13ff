#include "actors/experts/expert_host.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/experts/expert_kind_digest.hpp"

namespace potluck {

void expert_host_state::init(expert_host_actor::pointer self,
                             expert_host_config config) {
  self_ = self;
  config_ = std::move(config);
  desk_.emplace(config_.hosting.bounds);
  device_ = std::make_shared<worker>(config_.mode, config_.niceness);
  next_save_ = self_->clock().now() + config_.hosting.save_interval;
  self_->set_exit_handler([this](caf::exit_msg& x) {
    // Restarted, not leaving: the successor loads from the shelf right now.
    if (!experts_.leaving()) {
      self_->quit(x.reason);
      return;
    }
    ending_ = true;
    go_on_leaving();
  });
  // Those of the other hosts, and our own that were others' for a while: what
  // lies with our own is older then. Found by the simulation, experts.json with
  // seeds 8 and 17.
  for (auto& uid : config_.hosting.shelves.adopted->uids())
    on(adopt_expert{uid});
  for (auto& uid : config_.hosting.uids)
    if (experts_.add(uid, false))
      start(to_string(uid));
  start_replicator();
  self_->send(self_, tick{});
}

expert_host_state::~expert_host_state() {
  for (auto& [uid, x] : actors_)
    caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
  if (replicator_)
    caf::anon_send_exit(replicator_, caf::exit_reason::user_shutdown);
}

void expert_host_state::start_replicator() {
  const auto& h = config_.hosting;
  expert_replicator_config c{config_.self,
                             config_.run,
                             digest_of_kind(h.kind),
                             h.spare.value_or(h.uids.size()),
                             h.shelves,
                             caf::actor_cast<expert_host_actor>(self_),
                             config_.mode};
  replicator_ = self_->spawn<caf::monitored>(expert_replicator, c);
  if (config_.expert_started)
    config_.expert_started("expert_replicator",
                           caf::actor_cast<caf::actor>(replicator_));
  // What its predecessor knew.
  self_->send(replicator_, wired_.replicator);
  self_->send(replicator_, reachable_at{where_});
  for (auto& [id, joined] : connected_)
    self_->send(replicator_, joined);
  for (auto& [uid, e] : experts_.all())
    if (e.ready)
      self_->send(replicator_, expert_stored{uid, e.term, e.saved, e.adopted});
  experts_.offer_again();
}

void expert_host_state::start(const std::string& uid) {
  expert_config c;
  c.uid = uid;
  c.kind = config_.hosting.kind;
  c.seed = config_.hosting.seed;
  c.make = config_.hosting.make;
  c.shelf = experts_.find(uid)->adopted ? config_.hosting.shelves.adopted
                                        : config_.hosting.shelves.own;
  c.device = device_;
  c.host = caf::actor_cast<expert_host_actor>(self_);
  c.save_every = config_.hosting.save_every;
  auto& actor = actors_[uid];
  actor = self_->spawn<caf::monitored>(expert, c);
  if (config_.expert_started)
    config_.expert_started(uid, caf::actor_cast<caf::actor>(actor));
}

void expert_host_state::fault(const std::string& what,
                              const std::string& detail) {
  self_->send(wired_.observer, fault_news(what, detail));
}

void expert_host_state::on(const expert_host_handles& w) {
  wired_ = w;
  self_->send(replicator_, w.replicator);
}

void expert_host_state::on(const peer_joined& x) {
  connected_[x.who.id] = x;
  self_->send(replicator_, x);
}

void expert_host_state::on(const peer_left& x) {
  connected_.erase(x.id);
  desk_->forget(x.id);
  self_->send(replicator_, x);
}

void expert_host_state::on(const reachable_at& x) {
  where_ = x.where;
  self_->send(replicator_, x);
}

// ---- calls

void expert_host_state::on(const letter& x) {
  auto request = std::get_if<expert_request>(&x.content);
  if (request == nullptr) {
    self_->send(replicator_, x);
    return;
  }
  auto refusal
      = desk_->take(x.from, *request, x.body, experts_, self_->clock().now());
  if (!refusal) {
    pump();
    return;
  }
  send({*refusal});
  if (refusal->what.outcome == expert_outcome::wrong_values && wired_.roster)
    self_->send(wired_.roster,
                offence_seen{x.from, misconduct::witness::alone,
                             "call " + std::to_string(request->number),
                             "called an expert with values that are not "
                             "finite, or wrongly packed"});
}

void expert_host_state::send(const call_desk::replies& all) {
  for (auto& x : all)
    if (x.to != config_.self)
      post(self_, wired_.letters, parcel{x.to, x.what, x.body});
    else if (wired_.expert_caller)
      self_->send(wired_.expert_caller, letter{x.to, x.what, x.body});
}

void expert_host_state::pump() {
  auto now = self_->clock().now();
  if (auto job = desk_->next(now))
    self_->send(actors_.at(job->batch->uid), run_batch{*job});
  else if (auto wake = desk_->wake())
    self_->delayed_send(self_, *wake - now, deadline_passed{});
}

void expert_host_state::on(const batch_computed& x) {
  if (!desk_->runs(x.what.number))
    return;
  if (config_.hosting.batch_time && !x.lasted) {
    auto later = x;
    later.lasted = true;
    auto lasts = config_.hosting.batch_time(desk_->running()->samples());
    self_->delayed_send(self_, lasts, later);
    return;
  }
  experts_.computed(x.uid, x.updates);
  send(desk_->computed(x.what));
  if (experts_.leaving()) {
    save();
    go_on_leaving();
  }
  pump();
}

void expert_host_state::on(const deadline_passed&) {
  pump();
}

// ---- experts

void expert_host_state::on(const expert_made& x) {
  if (!experts_.made(x.uid, x.shape, x.updates, x.term))
    return;
  const auto& e = *experts_.find(x.uid);
  announcements_.add(e.name, self_->clock().now());
  self_->send(replicator_, expert_stored{x.uid, x.term, x.updates, e.adopted});
  go_on_leaving();
}

void expert_host_state::on_down(const caf::down_msg& x) {
  if (replicator_ && x.source == replicator_.address()) {
    fault("restarted expert_replicator", cause_of(x));
    start_replicator();
    go_on_leaving();
    return;
  }
  auto i = std::find_if(actors_.begin(), actors_.end(), [&](auto& e) {
    return e.second.address() == x.source;
  });
  if (i == actors_.end())
    return;
  auto uid = i->first;
  auto reason = cause_of(x);
  auto why = "the expert failed: " + reason;
  auto again = experts_.crashed(uid, self_->clock().now());
  fault((again ? "restarted expert " : "gave up expert ") + uid, reason);
  send(desk_->refuse_running(uid, expert_outcome::failed, why));
  if (again) {
    start(uid);
  } else {
    forget(uid);
    send(desk_->refuse_waiting(uid, expert_outcome::failed, why));
  }
  pump();
  go_on_leaving();
}

void expert_host_state::on(const expert_saved& x) {
  auto e = experts_.find(x.uid);
  if (e == nullptr)
    return; // It has been withdrawn.
  if (x.problem.empty()) {
    experts_.saved(x.uid, x.updates);
    self_->send(replicator_,
                expert_stored{x.uid, e->term, x.updates, e->adopted});
  } else {
    experts_.not_saved(x.uid);
    fault("cannot save expert " + x.uid, x.problem);
  }
  go_on_leaving();
}

void expert_host_state::save() {
  for (auto& uid : experts_.unsaved())
    self_->send(actors_.at(uid), save_expert{});
}

void expert_host_state::forget(const std::string& uid) {
  actors_.erase(uid);
  announcements_.withdraw(experts_.all().at(uid).name);
  self_->send(replicator_, expert_dropped{uid});
}

// ---- other hosts

void expert_host_state::on(const adopt_expert& x) {
  auto name = parse_expert_uid(x.uid);
  if (name && !experts_.leaving() && experts_.add(*name, true))
    start(x.uid);
}

void expert_host_state::withdraw(const std::string& uid) {
  if (!experts_.withdraw(uid))
    return;
  const std::string why = "another host has the expert now";
  send(desk_->refuse_waiting(uid, expert_outcome::not_here, why));
  send(desk_->refuse_running(uid, expert_outcome::not_here, why));
  self_->demonitor(actors_.at(uid).address());
  self_->send_exit(actors_.at(uid), caf::exit_reason::user_shutdown);
  forget(uid);
  // Its own it may get back by chance; those of others are theirs.
  if (experts_.all().at(uid).adopted)
    config_.hosting.shelves.adopted->remove(uid);
}

void expert_host_state::on(const give_way& x) {
  withdraw(x.uid);
  pump();
}

void expert_host_state::on(const expert_handed_over& x) {
  if (x.served)
    withdraw(x.uid);
  experts_.handed_over(x.uid);
  go_on_leaving();
  pump();
}

void expert_host_state::on(const leave_run&) {
  experts_.leave();
  for (auto& [uid, e] : experts_.all())
    send(desk_->refuse_waiting(uid, expert_outcome::busy,
                               "this host is leaving"));
  save();
  go_on_leaving();
}

void expert_host_state::go_on_leaving() {
  if (ending_ && experts_.unsaved().empty()) {
    self_->quit(caf::exit_reason::user_shutdown);
    return;
  }
  for (auto& uid : experts_.to_hand_over(desk_->learning()))
    self_->send(replicator_, hand_over_expert{uid});
  if (experts_.gone())
    self_->send(wired_.supervisor, hand_over_done{});
}

// ---- telling others

void expert_host_state::announce() {
  if (!wired_.router || where_.host.empty() || where_.port == 0)
    return;
  auto due
      = announcements_.due(self_->clock().now(), limits::announcements_at_once);
  for (auto& record :
       experts_.records(config_.run, {config_.self, where_}, due))
    self_->send(wired_.router, publish_record{record});
}

void expert_host_state::tell_figures() {
  const auto& f = desk_->so_far();
  auto now = std::make_pair(experts_.ready(), f.calls + f.busy + f.failed);
  if (std::exchange(told_, now) == now)
    return;
  self_->send(wired_.observer,
              event{"experts",
                    {{"hosted", std::uint64_t{experts_.all().size()}},
                     {"ready", std::uint64_t{experts_.ready()}},
                     {"calls", f.calls},
                     {"samples", f.samples},
                     {"batches", f.batches},
                     {"waiting", std::uint64_t{desk_->waiting()}},
                     {"busy", f.busy},
                     {"failed", f.failed},
                     {"updates", experts_.updates()}}});
}

void expert_host_state::on(const tick&) {
  auto now = self_->clock().now();
  announce();
  pump();
  if (now >= next_save_) {
    next_save_ = now + config_.hosting.save_interval;
    save();
  }
  if (now >= next_news_ && wired_.observer) {
    next_news_ = now + limits::expert_news_interval;
    tell_figures();
  }
  self_->delayed_send(self_, limits::expert_interval, tick{});
}

expert_host_actor::behavior_type
expert_host(expert_host_actor::stateful_pointer<expert_host_state> self,
            expert_host_config config) {
  return behave<expert_host_actor, expert_host_state>(self, std::move(config));
}

} // namespace potluck
