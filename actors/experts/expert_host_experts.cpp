// What becomes of a host's experts: made, lost, saved, given to other hosts.

#include <algorithm>

#include "actors/experts/expert_host.hpp"
#include "runtime/config.hpp"

namespace potluck {

namespace {

std::string reason_of(const caf::down_msg& x) {
  if (x.reason && x.reason.context().match_elements<std::string>())
    return x.reason.context().get_as<std::string>(0);
  return caf::actor_system_config::render(x.reason);
}

} // namespace

// ---- experts
// --------------------------------------------------------------------

void expert_host_state::on(const expert_made& x) {
  auto& e = experts_.at(x.uid);
  e.ready = true;
  e.shape = x.shape;
  e.updates = x.updates;
  e.saved = x.updates;
  e.term = x.term;
  announcements_.add(e.name, self_->clock().now());
  self_->send(replicator_, expert_stored{x.uid, x.term, x.updates, e.adopted});
  if (leaving_)
    hand_over();
}

void expert_host_state::on_down(const caf::down_msg& x) {
  if (replicator_ && x.source == replicator_.address()) {
    self_->send(wired_.observer, event{"fault",
                                       {{"what", "restarted expert_replicator"},
                                        {"detail", reason_of(x)}}});
    start_replicator();
    self_->send(replicator_, wired_);
    self_->send(replicator_, reachable_at{where_});
    for (auto& [id, joined] : connected_)
      self_->send(replicator_, joined);
    for (auto& [uid, e] : experts_)
      if (e.ready)
        self_->send(replicator_,
                    expert_stored{uid, e.term, e.saved, e.adopted});
    offered_.clear();
    hand_over();
    return;
  }
  auto i = std::find_if(experts_.begin(), experts_.end(), [&](auto& e) {
    return e.second.actor && e.second.actor.address() == x.source;
  });
  if (i == experts_.end())
    return;
  auto& [uid, e] = *i;
  auto reason = reason_of(x);
  std::vector<expert_task> lost;
  if (running_ && running_->uid == uid) {
    lost = running_->tasks;
    running_ = nullptr;
  }
  auto again = !leaving_ && e.budget.allow(self_->clock().now());
  self_->send(
      wired_.observer,
      event{"fault",
            {{"what", (again ? "restarted expert " : "gave up expert ") + uid},
             {"detail", reason}}});
  if (again) {
    start(uid, e);
  } else {
    e.actor = nullptr;
    e.ready = false;
    announcements_.withdraw(e.name);
    self_->send(replicator_, expert_dropped{uid});
    for (auto& task : queue_->withdraw(uid))
      lost.push_back(std::move(task));
  }
  for (auto& task : lost) {
    ++figures_.failed;
    refuse(task.caller, task.number, expert_outcome::failed,
           "the expert failed: " + reason);
  }
  pump();
  hand_over();
  if (exiting_)
    quit_when_saved();
}

void expert_host_state::on(const expert_saved& x) {
  auto& e = experts_.at(x.uid);
  if (!e.actor)
    return;
  if (x.problem.empty()) {
    e.saved = x.updates;
    self_->send(replicator_,
                expert_stored{x.uid, e.term, x.updates, e.adopted});
  } else
    self_->send(wired_.observer, event{"fault",
                                       {{"what", "cannot save expert " + x.uid},
                                        {"detail", x.problem}}});
  if (leaving_ && !x.problem.empty()) {
    e.ready = false; // Nothing more can be done for it.
    e.handed_over = true;
  }
  hand_over();
  if (exiting_)
    quit_when_saved();
}

void expert_host_state::save_dirty() {
  for (auto& [uid, e] : experts_)
    if (e.ready && e.updates != e.saved)
      self_->send(e.actor, save_expert{});
}

// ---- other hosts
// ----------------------------------------------------------------

void expert_host_state::on(const adopt_expert& x) {
  auto name = parse_expert_uid(x.uid);
  if (!name || leaving_)
    return;
  auto& e = experts_[x.uid];
  if (e.actor)
    return;
  e.name = *name;
  e.adopted = true;
  start(x.uid, e);
}

void expert_host_state::withdraw(const std::string& uid,
                                 const std::string& why) {
  auto i = experts_.find(uid);
  if (i == experts_.end() || !i->second.actor)
    return;
  auto& e = i->second;
  auto lost = queue_->withdraw(uid);
  if (running_ && running_->uid == uid) {
    lost.insert(lost.end(), running_->tasks.begin(), running_->tasks.end());
    running_ = nullptr;
  }
  self_->demonitor(e.actor.address());
  self_->send_exit(e.actor, caf::exit_reason::user_shutdown);
  e.actor = nullptr;
  e.ready = false;
  announcements_.withdraw(e.name);
  for (auto& task : lost)
    refuse(task.caller, task.number, expert_outcome::not_here, why);
  self_->send(replicator_, expert_dropped{uid});
  // Its own it may get back by chance; those of others are theirs.
  if (e.adopted)
    config_.hosting.shelves.adopted->remove(uid);
}

void expert_host_state::on(const give_way& x) {
  withdraw(x.uid, "another host has the expert now");
  pump();
}

void expert_host_state::on(const expert_handed_over& x) {
  if (x.served)
    withdraw(x.uid, "another host has the expert now");
  if (auto i = experts_.find(x.uid); i != experts_.end())
    i->second.handed_over = true;
  hand_over();
  pump();
}

void expert_host_state::on(const leave_run&) {
  leaving_ = true;
  for (auto& [uid, e] : experts_)
    for (auto& task : queue_->withdraw(uid))
      refuse(task.caller, task.number, expert_outcome::busy,
             "this host is leaving");
  save_dirty();
  hand_over();
}

void expert_host_state::hand_over() {
  if (!leaving_ || free_told_)
    return;
  bool done = true;
  for (auto& [uid, e] : experts_) {
    if (!e.actor || e.handed_over)
      continue;
    done = false;
    auto busy = running_ && running_->uid == uid
                && running_->pass == expert_pass::backward;
    if (e.ready && e.updates == e.saved && !busy && offered_.insert(uid).second)
      self_->send(replicator_, hand_over_expert{uid});
  }
  if (!done)
    return;
  free_told_ = true;
  self_->send(wired_.supervisor, hand_over_done{});
}

void expert_host_state::quit_when_saved() {
  for (auto& [uid, e] : experts_)
    if (e.ready && e.updates != e.saved)
      return;
  self_->quit(caf::exit_reason::user_shutdown);
}

} // namespace potluck
