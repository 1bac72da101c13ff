/// The conductor's part in groups: when to lead one, for whom to wait, and
/// freezing the gradient for one.
#include "actors/conductor.hpp"

#include <algorithm>

#include "runtime/config.hpp"
#include "runtime/matchmaking/matchmaker.hpp"
#include "runtime/safeguards.hpp"

namespace potluck {

namespace {

std::size_t averaging(const std::vector<progress_report>& companions) {
  return static_cast<std::size_t>(
      std::count_if(companions.begin(), companions.end(),
                    [](const auto& r) { return r.phase == phase::averaging; }));
}

/// Whether as many average as do not, this peer among these: what they are
/// about to complete is the step that counts.
bool most_average(const std::vector<progress_report>& companions) {
  auto busy = averaging(companions);
  return busy >= companions.size() - busy + 1;
}

} // namespace

void conductor_state::lead_if_due() {
  auto now = self_->clock().now();
  if (stage_ != stage::accumulating || !is_trainer() || own_.state.empty()
      || !averages() || !step_is_due()) {
    group_due_since_.reset();
    return;
  }
  auto companions = partners();
  if (has_nobody_to_lead(companions) || ends_elsewhere(companions))
    return;
  if (!group_due_since_ || most_average(companions))
    group_due_since_ = now;
  if (now < lead_not_before_)
    return;
  // Who is to lead may wait in turn, for somebody whom we avoid.
  auto turn = limits::leaders_turn * round_patience();
  auto missed = static_cast<std::size_t>((now - *group_due_since_) / turn);
  if (redraws() ? others_lead(companions, missed)
                : !should_lead(own_, companions, leaders_, missed))
    return;
  // Others that doubt us lead without us. Who does not, waits for us: after a
  // while it is worth asking.
  if (is_distrusted(config_.self)) {
    if (!shunned_since_)
      shunned_since_ = now;
    if (now - *shunned_since_ < round_patience())
      return;
  }
  for (auto& [id, since] : unconnected_since_)
    if (now - since < connecting_.patience(id)
        && (!redraws() || drawn_group().count(id)))
      return;
  if ((!redraws() && others_average(companions)) || somebody_enters())
    return;
  lead_group order;
  order.round_patience = round_patience();
  order.answer_patience
      = std::max(order.round_patience, answer_patience(companions));
  order.computing = computing_time();
  order.least_samples = least_samples(companions);
  auto invite = [&](const progress_report& r) {
    order.invitees.push_back({r.id, r.where});
    order.roles.push_back(r.role);
  };
  for (auto& r : companions)
    invite(r);
  for (auto& r : tracker_->auxiliaries(now))
    invite(r);
  for (auto& [id, x] : distrusted_)
    if (x.contradicted && now < x.until && id != config_.self
        && connected_.count(id))
      order.shunned.push_back(id);
  tell_facts(); // What this peer will have answered itself.
  // Asked only once: matchmaking answers with a freeze or a dissolution.
  stage_ = stage::frozen;
  group_ = {};
  self_->send(wired_.matchmaking, order);
}

bool conductor_state::others_average(
    const std::vector<progress_report>& companions) {
  if (averaging(companions) == 0) {
    others_average_since_.reset();
    return false;
  }
  auto now = self_->clock().now();
  // While somebody else was to lead nobody looked.
  if (!others_average_since_
      || now - others_looked_at_ > duration{limits::round_floor})
    others_average_since_ = now;
  others_looked_at_ = now;
  // How long most may be stuck they know, who have seen slower rounds.
  auto wait = most_average(companions) ? duration{limits::round_cap}
                                       : duration{round_patience()};
  return now - *others_average_since_ < wait;
}

std::chrono::milliseconds conductor_state::computing_time() const {
  using seconds = std::chrono::duration<double>;
  auto speed = tracker_->samples_per_second(self_->clock().now());
  if (!(speed > 0))
    return {};
  auto samples = static_cast<double>(settings().target_batch);
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::min<seconds>(seconds{samples / speed}, limits::longest_computing));
}

std::chrono::milliseconds conductor_state::round_patience() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      round_times_.patience(peer_id{}));
}

std::chrono::milliseconds conductor_state::answer_patience(
    const std::vector<progress_report>& companions) const {
  using seconds = std::chrono::duration<double>;
  seconds longest = limits::longest_batch;
  for (auto& r : companions)
    if (r.samples_per_second > 0) // A batch has at least one sample.
      longest = std::max(longest, seconds{1 / r.samples_per_second});
  auto wait = std::min<seconds>(longest * limits::patience_in_batches,
                                limits::answer_cap);
  return std::chrono::duration_cast<std::chrono::milliseconds>(wait);
}

void conductor_state::on(const freeze_wanted& x) {
  if (stage_ != stage::accumulating && stage_ != stage::frozen) {
    tell_facts(); // Its news crossed ours: the invitation is to be declined.
    return;
  }
  group_ = x.group;
  group_due_since_.reset();
  stage_ = stage::frozen;
  announce(true);
  tell_facts(); // Whom our answer is to avoid, and what our cell is.
  if (frozen_reported_) {
    // This group is answered with the same figures, perhaps already: nothing
    // may be added.
    tell_frozen();
    return;
  }
  gather();
  if (!batch_running_ || aside_ || !guarded(safeguard::frozen_gradient))
    report_frozen();
}

void conductor_state::tell_frozen() {
  self_->send(wired_.matchmaking,
              gradient_frozen{group_, own_.samples, loss_sum_});
}

void conductor_state::report_frozen() {
  if (frozen_reported_ || group_.empty() || gathering_)
    return;
  frozen_reported_ = true;
  tell_frozen();
  if (delayed()) {
    close_gradient();
    pump();
  }
}

void conductor_state::on(const group_dissolved& x) {
  if (stage_ != stage::frozen || (!group_.empty() && x.group != group_))
    return;
  auto pause = lead_pause * (1u << std::min(dissolved_, 10u));
  lead_not_before_
      = self_->clock().now() + std::min<duration>(pause, lead_pause_cap);
  ++dissolved_;
  enter(stage::accumulating);
}

} // namespace potluck
