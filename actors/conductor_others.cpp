/// The conductor's view of the others: who is there, what they report, and what
/// that says about this peer's round.
#include "actors/conductor.hpp"

#include <algorithm>

#include "runtime/config.hpp"

namespace potluck {

void conductor_state::on(const peer_joined& x) {
  connected_.insert(x.who.id);
  gone_.erase(x.who.id);
  out_of_touch_.erase(x.who.id);
  if (auto i = unconnected_since_.find(x.who.id);
      i != unconnected_since_.end()) {
    connecting_.observed(x.who.id, self_->clock().now() - i->second);
    unconnected_since_.erase(i);
  }
  if (is_trainer() && splits_.returned(x.who.id))
    self_->send(wired_.observer,
                event{"reunion",
                      {{"step", own_.step},
                       {"detail", std::string{"half of those who were lost are "
                                              "back; the longer history "
                                              "counts"}}}});
}

void conductor_state::on(const peer_left& x) {
  if (cannot_be_reached(x))
    return;
  connected_.erase(x.id);
  if (gone_.size() < limits::gone_peers)
    gone_.insert(x.id);
  unconnected_since_.erase(x.id);
  entrances_.erase(x.id);
  hampered_.erase(x.id);
  auto known = reports_.find(x.id);
  // Fellow contributors come and go with the sponsor's chains.
  bool lost = !x.orderly && known != reports_.end()
              && known->second.role == role::trainer
              && !(standing_.contributes && known->second.contributes);
  reports_.erase(x.id);
  tally_.forget(x.id);
  if (lost)
    note_loss(x.id);
  tracker_->forget(x.id);
  finish_if_others_are_done();
}

void conductor_state::note_loss(const peer_id& who) {
  lost_trainer_at_ = self_->clock().now();
  if (!is_trainer())
    return;
  auto left
      = std::count_if(reports_.begin(), reports_.end(), [](const auto& r) {
          return r.second.role == role::trainer;
        });
  auto found = splits_.lost(who, static_cast<std::size_t>(left) + 1,
                            self_->clock().now());
  if (found)
    self_->send(
        wired_.observer,
        event{"split",
              {{"step", own_.step},
               {"lost", std::uint64_t{found->lost}},
               {"left", std::uint64_t{found->left}},
               {"detail", std::string{"trainers were lost at once; those who "
                                      "are left go on, and the longer history "
                                      "counts when they meet again"}}}});
}

void conductor_state::on(const report_heard& x) {
  const auto& r = x.report;
  if (r.charter != own_.charter)
    return; // Still joining, or of another run.
  auto now = self_->clock().now();
  finishers_.heard(r, settings().steps);
  if (!connected_.count(r.id)) {
    if (redraws())
      hear_of(r);
    // Hearsay: worth waiting for its session, not worth counting on. Records
    // of a peer that has just left live on for a while.
    if (r.phase != phase::finished && !gone_.count(r.id) && !r.contributes
        && !standing_.contributes && !out_of_touch_.count(r.id))
      unconnected_since_.emplace(r.id, now);
    return;
  }
  if (is_distrusted(r.id))
    return;
  if (distrusted_.erase(r.id) != 0)
    tell_facts();
  reports_[r.id] = r;
  if (sponsors(r))
    tally_.heard(r, now);
  else
    tally_.forget(r.id);
  if (r.contributes) {
    // Its samples count through its sponsor, and nobody is led, or asked for a
    // state, by what it says: a sponsor hears of hundreds.
    tracker_->forget(r.id);
    finish_if_others_are_done();
    return;
  }
  tracker_->hear(r, now);
  if (stage_ == stage::fetching && r.role == role::trainer
      && r.phase != phase::joining)
    self_->send(wired_.state_keeper, x);
  if (stage_ == stage::averaging && formed_ && r.role == role::trainer
      && r.step >= formed_->contract.step)
    hear_outcome(r);
  if (is_trainer()) {
    catch_up_if_behind();
    lead_if_due();
    if (delayed())
      pump(); // There may be enough samples now, or too few again.
  } else {
    follow_run_as_auxiliary();
  }
  finish_if_others_are_done();
}

void conductor_state::hear_outcome(const progress_report& r) {
  const auto& c = formed_->contract;
  // Of redrawn groups many make the same step, each its own.
  auto member = std::any_of(c.members.begin(), c.members.end(),
                            [&](auto& m) { return m.who.id == r.id; });
  auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(
      verdict_times_.patience(r.id));
  if (!asked_outcome_ && r.step == c.step && (member || !redraws())) {
    asked_outcome_.emplace(r.id, self_->clock().now());
    self_->delayed_send(wired_.averager, patience,
                        outcome_known{c.group, r.id, patience});
  }
  if (left_behind_ || !step_is_done_without_us())
    return;
  left_behind_ = true;
  self_->send(wired_.averager, outcome_known{c.group, {}, patience});
}

bool conductor_state::step_is_done_without_us() const {
  const auto& c = formed_->contract;
  auto ahead = [&](const progress_report& r) {
    return r.role == role::trainer && r.step >= c.step;
  };
  // One who did the step alone is no reason to leave the round. Most members
  // are, and so are as many outside, when silent members held this round up.
  std::set<peer_id> members;
  std::size_t members_ahead = 0;
  for (auto& member : c.members)
    if (member.role == role::trainer) {
      members.insert(member.who.id);
      auto known = reports_.find(member.who.id);
      members_ahead += known != reports_.end() && ahead(known->second);
    }
  std::size_t others_ahead = 0;
  for (auto& r : tracker_->fresh(self_->clock().now()))
    others_ahead += ahead(r) && members.count(r.id) == 0
                    && (!redraws() || r.step > c.step);
  return 2 * members_ahead > members.size() || others_ahead >= members.size();
}

void conductor_state::follow_run_as_auxiliary() {
  // Holds no model: its step is that of the longest history around.
  for (auto& [id, r] : reports_)
    if (r.role == role::trainer && r.history_samples > own_.history_samples) {
      own_.step = r.step;
      own_.state = r.state;
      own_.history_samples = r.history_samples;
      announce(false);
    }
}

} // namespace potluck
