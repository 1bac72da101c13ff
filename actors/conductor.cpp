#include "actors/conductor.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "runtime/config.hpp"
#include "runtime/moshpit/moshpit_vector.hpp"
#include "runtime/random.hpp"
#include "runtime/safeguards.hpp"

namespace potluck {

namespace {

/// Weight of the newest batch in the measured speed.
constexpr double speed_smoothing = 0.2;

} // namespace

void conductor_state::init(conductor_actor::pointer self,
                           conductor_config config) {
  self_ = self;
  config_ = std::move(config);
  micro_batch_ = config_.micro_batch;
  tracker_.emplace(settings().target_batch + settings().reserve, config_.self,
                   limits::report_max_age);
  batch_number_ = static_cast<std::uint64_t>(self_->id()) << 32;
  order_seed_ = config_.order.shared
                    ? settings().seed
                    : mix(settings().seed, seed_of(config_.self));
  own_.id = config_.self;
  own_.role = config_.role;
  own_.charter = config_.agreed.digest();
  own_.upload_bytes_per_second = config_.upload_bytes_per_second;
  own_.download_bytes_per_second = config_.download_bytes_per_second;
  step_began_ = self_->clock().now();
  next_fetch_ = step_began_;
  next_status_ = step_began_;
  if (config_.replaces)
    lost_trainer_at_ = step_began_;
  if (!is_trainer())
    stage_ = stage::accumulating;
  self_->send(self_, tick{});
}

void conductor_state::on(const wiring& w) {
  wired_ = w;
  announce(true);
  tell_facts();
  tell_pace();
}

// ---- stages
// ----------------------------------------------------------------------

void conductor_state::enter(stage next) {
  stage_ = next;
  if (next == stage::accumulating) {
    reopen_gradient();
    formed_.reset();
    round_.reset();
    frozen_reported_ = false;
    gathered_ = false;
    asked_outcome_.reset();
    left_behind_ = false;
  }
  tell_facts();
  announce(true);
  if (next == stage::accumulating) {
    catch_up_if_behind();
    pump();
    announce(false);
  }
}

void conductor_state::announce(bool urgent) {
  switch (stage_) {
    case stage::starting:
    case stage::fetching:
      own_.phase = phase::joining;
      break;
    case stage::accumulating:
      own_.phase
          = batch_running_ && !aside_ ? phase::accumulating : phase::waiting;
      break;
    case stage::frozen:
      own_.phase = phase::matchmaking;
      break;
    case stage::averaging:
    case stage::applying:
      own_.phase = phase::averaging;
      break;
    case stage::finished:
      own_.phase = phase::finished;
      break;
  }
  own_.samples_per_second = samples_per_second_;
  own_.loss
      = own_.samples == 0 ? 0 : loss_sum_ / static_cast<double>(own_.samples);
  auto report = with_contributors();
  tracker_->update_self(report);
  // Its members are told of more samples every few seconds at most.
  auto now = self_->clock().now();
  if (!urgent && standing_.contributes && own_.phase == announced_phase_
      && now - announced_at_ < pace_.look)
    return;
  announced_phase_ = own_.phase;
  announced_at_ = now;
  if (wired_.cell && !standing_known_)
    report.phase = phase::joining; // As a member or not: it will say so.
  if (wired_.roster)
    self_->send(wired_.roster, own_report{report, urgent});
}

void conductor_state::tell_facts() {
  if (!wired_.matchmaking)
    return;
  matchmaking_facts facts;
  facts.step = own_.step;
  facts.state = own_.state;
  facts.gradient_values
      = redraws() ? moshpit_values(gradient_values_) : gradient_values_;
  facts.leaders = leaders_;
  facts.open = averages()
               && (stage_ == stage::accumulating || stage_ == stage::frozen);
  auto now = self_->clock().now();
  for (auto& [id, x] : distrusted_)
    if (now < x.until)
      facts.doubted.insert(id);
  facts.upload_bytes_per_second = own_.upload_bytes_per_second;
  facts.download_bytes_per_second = own_.download_bytes_per_second;
  facts.slow_pairs = own_.slow_pairs;
  if (redraws() && is_trainer())
    tell_out_of_reach(facts);
  facts.gathering = sponsors_patience(tracker_->companions(now));
  self_->send(wired_.matchmaking, facts);
}

// ---- accumulating
// --------------------------------------------------------------------

std::uint32_t conductor_state::batch_size() const {
  if (samples_per_second_ == 0)
    return std::min(micro_batch_, limits::first_batch);
  std::chrono::duration<double> longest = limits::longest_batch;
  if (standing_.contributes)
    longest = longest_batch_now(pace_, self_->clock().now() - step_began_,
                                asked_after_);
  auto seconds = longest.count();
  auto fitting = samples_per_second_ * seconds;
  return fitting >= micro_batch_
             ? micro_batch_
             : std::max(1u, static_cast<std::uint32_t>(fitting));
}

std::optional<batch_request> conductor_state::next_batch() const {
  if (aside_)
    return next_batch_ahead();
  batch_request request;
  request.order_seed = order_seed_;
  if (config_.order.shared) {
    auto target = settings().target_batch + settings().reserve;
    auto shards = std::uint64_t{config_.order.shards};
    auto shard = std::uint64_t{config_.order.shard};
    auto part = shard < target ? (target - shard + shards - 1) / shards : 0;
    if (own_.samples >= part)
      return std::nullopt;
    request.first_sample = own_.step * target + shard + own_.samples * shards;
    request.stride = config_.order.shards;
    request.samples = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(batch_size(), part - own_.samples));
    return request;
  }
  auto now = self_->clock().now();
  // A group is about to form: more would overshoot. But if one has come to
  // nothing, the others have fewer samples than their speed had us expect, and
  // somebody must go on.
  auto reached = step_is_due();
  if (reached && dissolved_ == 0)
    return std::nullopt;
  auto quota = reached ? batch_size() : tracker_->my_quota(now);
  request.first_sample = next_sample_;
  request.samples = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(batch_size(), quota));
  return request;
}

void conductor_state::pump() {
  reopen_if_incomplete();
  if (batch_running_ || !is_trainer() || !wired_.compute || asked_for_
      || resting() || !(stage_ == stage::accumulating || computes_ahead()))
    return;
  close_if_complete();
  auto request = next_batch();
  if (!request)
    return;
  batch_running_ = true;
  self_->send(wired_.compute,
              compute_batch{own_.step, *request, ++batch_number_});
}

void conductor_state::on(const batch_done& x) {
  if (x.number != batch_number_ && guarded(safeguard::batch_number))
    return; // Asked for by a predecessor; what it computed is dropped.
  batch_running_ = false;
  uncounted_batch_ = uncounted_batch_ || stage_ == stage::fetching;
  // A step may have been made beside the batch.
  auto expected = x.step == own_.step || (delayed() && x.step + 1 == own_.step);
  if (expected && x.number != void_batch_ && stage_ != stage::fetching
      && stage_ != stage::starting) {
    (aside_ ? newer_samples_ : own_.samples) += x.result.samples;
    (aside_ ? newer_loss_ : loss_sum_) += x.result.loss_sum;
    next_sample_ += x.result.samples;
    if (x.result.samples > 0 && x.seconds > 0) {
      auto speed = x.result.samples / x.seconds;
      samples_per_second_
          = samples_per_second_ == 0
                ? speed
                : samples_per_second_
                      + speed_smoothing * (speed - samples_per_second_);
    }
  }
  if (stage_ == stage::frozen) {
    report_frozen();
    pump();
    return;
  }
  if (computes_ahead()) {
    pump();
    return;
  }
  hand_over_if_asked();
  tracker_->update_self(with_contributors());
  if (!asked_for_)
    close_if_complete();
  lead_if_due();
  pump();
  auto first = own_.samples == x.result.samples;
  announce(!standing_.contributes || first);
}

// ---- the end
// -----------------------------------------------------------------------------------

void conductor_state::finish() {
  finished_at_ = self_->clock().now();
  enter(stage::finished);
  self_->send(wired_.observer, event{"finished",
                                     {{"step", own_.step},
                                      {"loss", last_loss_},
                                      {"samples", own_.history_samples},
                                      {"digest", to_string(held_)}}});
  if (config_.writes_checkpoints) {
    checkpoint_pending_ = true;
    self_->send(wired_.state_keeper, save_checkpoint_now{own_.step});
  }
  finish_if_others_are_done();
}

void conductor_state::on(const checkpoint_saved& x) {
  if (x.step >= settings().steps)
    checkpoint_pending_ = false;
  self_->send(
      wired_.observer,
      event{"checkpoint",
            {{"step", x.step}, {"path", x.path}, {"problem", x.problem}}});
  finish_if_others_are_done();
}

void conductor_state::finish_if_others_are_done() {
  if (over_ || checkpoint_pending_
      || (is_trainer() ? stage_ != stage::finished
                       : own_.step < settings().steps))
    return;
  backlog lagging;
  for (const auto& [id, r] : reports_)
    if (r.role == role::trainer
        && (r.phase != phase::finished || r.state != own_.state)) {
      ++lagging.trainers;
      lagging.steps += r.step;
    }
  if (is_trainer()) {
    // Somebody who missed the last verdict still needs our state, and who was
    // lost without a goodbye may come back with another history.
    auto now = self_->clock().now();
    if (!(lagging == laggards_)) {
      laggards_ = lagging;
      laggards_moved_ = now;
    }
    auto lost
        = lost_trainer_at_ && now - *lost_trainer_at_ < limits::finish_linger;
    auto waited = now - *finished_at_;
    auto still = now - std::max(laggards_moved_, *finished_at_);
    if ((lagging.trainers > 0 && still < limits::laggard_linger
         && waited < limits::laggard_patience)
        || (lost && waited < limits::finish_linger))
      return;
  } else if (lagging.trainers > 0) {
    return;
  }
  over_ = true;
  show_status();
  self_->send(wired_.observer, peer_over{});
}

bool conductor_state::ends_elsewhere(
    const std::vector<progress_report>& companions) const {
  // Redrawn groups make their steps apart, the last one too.
  return !redraws() && own_.step < settings().steps
         && finishers_.outnumber(companions.size() + 1);
}

void conductor_state::give_up_if_too_late() {
  if (over_ || stage_ != stage::accumulating || !is_trainer() || !averages()
      || own_.state.empty() || !ends_elsewhere(partners())) {
    too_late_since_.reset();
    return;
  }
  auto now = self_->clock().now();
  if (!too_late_since_)
    too_late_since_ = now;
  if (now - *too_late_since_ < limits::laggard_linger)
    return;
  over_ = true;
  self_->send(wired_.observer,
              peer_over{"The others finished the run and left while this peer "
                        "was cut off from them, so it ends at step "
                        + std::to_string(own_.step) + " of "
                        + std::to_string(settings().steps)
                        + ": ask one of them for a checkpoint, and go on from "
                          "it with --resume FILE."});
}

// ---- looking around
// ------------------------------------------------------------------------------

void conductor_state::show_status() {
  auto now = self_->clock().now();
  run_status status;
  status.step = own_.step;
  status.steps = settings().steps;
  status.loss = last_loss_;
  status.samples_per_second = tracker_->samples_per_second(now);
  status.own_share = last_share_;
  // Of the cells that this peer hears of, its own counted one by one.
  status.peers = standing_.contributes ? 0 : 1;
  for (auto& [id, r] : reports_)
    if (connected_.count(id) && !(standing_.contributes && r.contributes))
      status.peers += 1 + (sponsors(r) ? 0 : r.contributors);
  status.phase = own_.phase;
  if (auto left = tracker_->time_to_target(now))
    status.seconds_to_next_step = std::chrono::duration<double>(*left).count();
  self_->send(wired_.observer, status);
}

void conductor_state::on(const line_measured& x) {
  // What the user states counts.
  if (config_.upload_bytes_per_second == 0)
    own_.upload_bytes_per_second = x.upload;
  if (config_.download_bytes_per_second == 0)
    own_.download_bytes_per_second = x.download;
  own_.slow_pairs = x.slow_pairs;
}

void conductor_state::on(const tick&) {
  auto now = self_->clock().now();
  if (wired_.observer) {
    if (next_standing_)
      on(cell_standing{*next_standing_});
    catch_up_if_behind();
    pump();
    lead_if_due();
    finish_if_others_are_done();
    give_up_if_too_late();
    // The first step of a run, and one that lacks people, take long as well.
    if (now - step_began_ > 2 * paced_for_)
      keep_pace(now - step_began_);
    if (config_.shows_status && now >= next_status_) {
      next_status_
          = now
            + std::max<duration>(limits::status_interval,
                                 reports_.size() * limits::status_pause_a_peer);
      show_status();
    }
  }
  self_->delayed_send(self_,
                      standing_.contributes
                          ? until_next_look(now, pace_.look, config_.self)
                          : duration{limits::conductor_interval},
                      tick{});
}

conductor_actor::behavior_type
conductor(conductor_actor::stateful_pointer<conductor_state> self,
          conductor_config config) {
  return behave<conductor_actor, conductor_state>(self, std::move(config));
}

} // namespace potluck
