/// The conductor's part in a cell (runtime/cells): counting and gathering what
/// contributors have, or handing over what this peer has.
#include "actors/conductor.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/cells/cell_balance.hpp"
#include "runtime/config.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/planning/thin_lines.hpp"
#include "runtime/random.hpp"

namespace potluck {

void conductor_state::on(const cell_standing& x) {
  auto changes = x.contributes != standing_.contributes;
  // In a group, or about to be in one: the next look tells it again.
  auto busy = stage_ == stage::frozen || stage_ == stage::averaging
              || stage_ == stage::applying;
  if (changes && (busy || asked_for_)) {
    next_standing_ = x;
    return;
  }
  next_standing_.reset();
  if (changes)
    reopen_gradient();
  standing_ = x;
  standing_known_ = true;
  own_.contributes = x.contributes;
  own_.sponsor = x.sponsor;
  own_.members = static_cast<std::uint32_t>(
      std::min<std::size_t>(x.members, max_members));
  tracker_->silent_after(x.contributes ? limits::members_report_life
                                       : limits::report_max_age);
  tell_facts();
  announce(true);
}

bool conductor_state::averages() const {
  return !standing_.contributes && (standing_known_ || !wired_.cell);
}

bool conductor_state::sponsors(const progress_report& x) const {
  return x.contributes && x.sponsor == config_.self;
}

progress_report conductor_state::with_contributors() const {
  auto result = own_;
  if (standing_.contributes)
    return result;
  auto cell = tally_.at(own_.step, own_.state, self_->clock().now(),
                        limits::reports_missed * pace_.report);
  result.contributors = static_cast<std::uint32_t>(
      std::min<std::size_t>(cell.contributors, max_contributors));
  result.samples = std::min(result.samples + cell.samples, max_samples);
  result.samples_per_second
      = std::min(result.samples_per_second + cell.samples_per_second, max_real);
  return result;
}

// ---- as a sponsor
// -------------------------------------------------------------------------

void conductor_state::gather() {
  if (gathering_ || gathered_ || !wired_.cell)
    return;
  gathered_ = true;
  gather_contributions order;
  order.step = own_.step;
  order.state = own_.state;
  order.gradient_values = gradient_values_;
  for (auto& [id, r] : reports_)
    if (sponsors(r) && r.samples > 0 && r.step == own_.step
        && r.state == own_.state)
      order.contributors.push_back(id);
  if (order.contributors.empty())
    return;
  order.packings = contribution_packings(order.contributors);
  order.patience = gathering_patience(with_contributors());
  std::vector<progress_report> who;
  for (auto& id : order.contributors)
    who.push_back(reports_.at(id));
  order.chains = mean_chains(who, gradient_values_ * sizeof(float),
                             own_.upload_bytes_per_second);
  order.better = better_sponsors_now();
  gathering_ = true;
  self_->send(wired_.cell, order);
}

std::map<peer_id, contact> conductor_state::better_sponsors_now() const {
  std::vector<peer_id> ours;
  std::vector<progress_report> members;
  for (auto& [id, r] : reports_)
    if (sponsors(r))
      ours.push_back(id);
    else if (r.role == role::trainer && !r.contributes && r.step == own_.step
             && r.state == own_.state)
      members.push_back(r);
  return better_sponsors(ours, members, mix(seed_of(config_.self), own_.step));
}

duration
conductor_state::gathering_patience(const progress_report& sponsor) const {
  return limits::gathering_share
         * gathering_time(sponsor, gradient_values_ * sizeof(float));
}

duration conductor_state::sponsors_patience(
    const std::vector<progress_report>& companions) const {
  auto longest = gathering_patience(with_contributors());
  for (const auto& x : companions)
    longest = std::max(longest, gathering_patience(x));
  return longest;
}

std::vector<packing> conductor_state::contribution_packings(
    const std::vector<peer_id>& contributors) const {
  if (!settings().packs_thin_lines())
    return std::vector<packing>(
        contributors.size(),
        packing_named(settings().packing).value_or(packing::float32));
  // An exchange in which this peer averages all, and nobody needs the mean.
  collaboration cell;
  cell.gradient_bytes = gradient_values_ * sizeof(float);
  cell.overlaps = settings().delayed_updates();
  cell.computing_seconds
      = std::chrono::duration<double>(computing_time()).count();
  auto add = [&](const progress_report& r, bool contributes) {
    planned_peer x;
    x.computes = contributes;
    x.holds_model = !contributes;
    x.upload_bytes_per_second = r.upload_bytes_per_second;
    x.download_bytes_per_second = r.download_bytes_per_second;
    cell.peers.push_back(x);
  };
  add(own_, false);
  for (const auto& id : contributors)
    add(reports_.at(id), true);
  std::vector<double> shares(cell.peers.size(), 0);
  shares[0] = 1;
  auto chosen = choose_packings(cell, shares).packings;
  return {chosen.begin() + 1, chosen.end()};
}

void conductor_state::on(const contribution_ready& x) {
  const auto& what = *x.what;
  // Behind the report the figures are fixed.
  auto open = stage_ == stage::accumulating
              || (stage_ == stage::frozen && !frozen_reported_);
  auto accepted = open && what.step == own_.step
                  && own_.samples + what.samples <= max_samples;
  self_->send(wired_.cell, contribution_taken{what.from, accepted});
  if (!accepted)
    return;
  self_->send(wired_.compute, add_gradient{x.what, aside_});
  own_.samples += what.samples;
  loss_sum_ += what.loss_sum;
  // It is counted here now.
  if (auto r = reports_.find(what.from); r != reports_.end())
    r->second.samples = 0;
  tally_.gave(what.from);
}

void conductor_state::on(const gathering_over& x) {
  if (!gathering_ || x.step != own_.step)
    return;
  gathering_ = false;
  if (stage_ == stage::frozen && (!batch_running_ || aside_))
    report_frozen();
}

// ---- as a contributor
// ---------------------------------------------------------------------

void conductor_state::keep_pace(duration step) {
  paced_for_ = step;
  if (auto pace = pace_of(step); !(pace == pace_)) {
    pace_ = pace;
    tell_pace();
  }
}

void conductor_state::tell_pace() {
  if (wired_.cell && wired_.roster) {
    self_->send(wired_.roster, pace_);
    self_->send(wired_.cell, pace_);
  }
}

bool conductor_state::resting() const {
  return standing_.contributes && gave_at_step_ == own_.step + 1
         && self_->clock().now() < rests_until_;
}

void conductor_state::on(const contribution_wanted& x) {
  const auto& request = x.request;
  auto reason = request.step != own_.step              ? "at another step"
                : request.state != own_.state          ? "another state"
                : stage_ != stage::accumulating        ? "not accumulating"
                : !standing_.contributes               ? "averaging itself"
                : own_.samples == 0 && !batch_running_ ? "nothing accumulated"
                                                       : "";
  if (*reason != 0) {
    self_->send(wired_.cell,
                hand_over{x.by, request.number, 0, 0, nullptr, reason});
    return;
  }
  asked_for_ = x;
  asked_after_ = self_->clock().now() - step_began_;
  if (!batch_running_)
    hand_over_if_asked();
}

void conductor_state::hand_over_if_asked() {
  if (!asked_for_ || batch_running_)
    return;
  if (stage_ == stage::accumulating && own_.samples > 0) {
    self_->send(wired_.compute, lend_gradient{});
    return;
  }
  self_->send(wired_.cell, hand_over{asked_for_->by, asked_for_->request.number,
                                     0, 0, nullptr, "nothing accumulated"});
  asked_for_.reset();
}

void conductor_state::give(std::shared_ptr<const std::vector<float>> gradient) {
  self_->send(wired_.cell,
              hand_over{asked_for_->by, asked_for_->request.number,
                        own_.samples, loss_sum_, std::move(gradient), ""});
  asked_for_.reset();
  // From here on these samples are the sponsor's, or nobody's.
  self_->send(wired_.compute, drop_gradient{});
  own_.samples = 0;
  loss_sum_ = 0;
  gave_at_step_ = own_.step + 1;
  rests_until_ = self_->clock().now() + limits::contributor_rest;
  announce(true);
}

} // namespace potluck
