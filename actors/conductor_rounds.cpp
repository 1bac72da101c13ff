/// The conductor's part in a step: its round, and what the optimizer made of
/// the mean.
#include "actors/conductor.hpp"

#include <algorithm>
#include <utility>

#include "runtime/config.hpp"
#include "runtime/matchmaking/matchmaker.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/planning/contract_difference.hpp"
#include "runtime/random.hpp"
#include "runtime/safeguards.hpp"

namespace potluck {

namespace {

/// Whose values are rounded on the way in this round: "peer 1a2b3c4d int8".
std::string packed_lines(const group_formed& x) {
  std::string result;
  for (std::size_t i = 0; i < x.plan.packings.size(); ++i) {
    if (x.plan.packings[i] == packing::float32)
      continue;
    const auto& id = x.contract.members.at(i).who.id;
    result += (result.empty() ? "peer " : ", peer ") + short_name(id) + " "
              + to_string(x.plan.packings[i]);
  }
  return result;
}

} // namespace

// ---- rounds
// ----------------------------------------------------------------------

void conductor_state::on(const group_formed& x) {
  if (stage_ != stage::frozen || x.contract.group != group_) {
    // A conductor that was restarted meanwhile: the others must not wait.
    self_->send(wired_.averager,
                member_withdrew{x.contract.group, config_.self});
    return;
  }
  formed_ = x;
  if (redraws())
    note_reach(x.contract);
  dissolved_ = 0;
  // The leader knows the collaboration's rounds as we do. One that asks for
  // much more, and then says nothing, is not to hold everybody up for so long.
  auto& patience = formed_->contract.patience_ms;
  patience = static_cast<std::uint32_t>(std::min<std::int64_t>(
      patience, limits::leaders_patience * round_patience().count()));
  enter(stage::averaging);
  auto [averaging, averaging_why] = way_of_averaging(x.contract);
  self_->send(wired_.observer,
              event{"plan",
                    {{"step", x.contract.step},
                     {"group", short_name(x.contract.group)},
                     {"members", std::uint64_t{x.contract.members.size()}},
                     {"strategy", x.plan.strategy},
                     {"binding", x.plan.binding},
                     {"predicted_seconds", x.plan.predicted_seconds},
                     {"packed", packed_lines(x)},
                     {"averaging", averaging},
                     {"averaging_why", averaging_why},
                     {"why", planned_.members.empty()
                                 ? std::string{"the first plan"}
                                 : plan_change(planned_, x.contract)},
                     {"digest", to_string(x.contract.plan)}}});
  planned_ = x.contract;
  if (is_trainer() && own_.samples > 0)
    self_->send(wired_.compute, lend_gradient{aside_, own_.samples, redraws()});
  else
    self_->send(wired_.averager,
                begin_round{formed_->contract, x.plan, nullptr, redraws()});
}

void conductor_state::on(const gradient_lent& x) {
  if (asked_for_) {
    give(x.gradient);
    return;
  }
  if (stage_ == stage::averaging && formed_)
    self_->send(wired_.averager, begin_round{formed_->contract, formed_->plan,
                                             x.gradient, redraws()});
}

void conductor_state::on(const round_over& x) {
  event news{"round",
             {{"group", short_name(x.contract.group)},
              {"step", x.contract.step},
              {"members", std::uint64_t{x.contract.members.size()}},
              {"outcome", std::string{x.committed ? "committed" : "aborted"}},
              {"healed", x.healed},
              {"left_out", std::uint64_t{x.left_out.size()}},
              {"seconds", x.seconds},
              {"bytes_sent", x.bytes_sent},
              {"bytes_received", x.bytes_received}}};
  if (redraws())
    news.fields.push_back({"redrawn", true});
  self_->send(wired_.observer, std::move(news));
  note_silence(x);
  auto taken = std::chrono::duration_cast<duration>(
      std::chrono::duration<double>(x.seconds));
  // A round that ended because somebody left says nothing about patience.
  // Nor does one that few held up: the next goes without them.
  bool few = !x.silent.empty()
             && limits::few_of * x.silent.size() < x.contract.members.size();
  bool in_vain = !x.committed
                 && taken >= std::chrono::milliseconds{x.contract.patience_ms};
  if (in_vain && x.contract.step == own_.step + 1) {
    leaders_.came_to_nothing(x.contract.members.front().who.id);
    tell_facts();
  }
  if (in_vain && !few)
    round_times_.expired(peer_id{});
  if (x.committed) {
    if (!x.healed) // That one lasted as long as somebody was waited for.
      round_times_.observed(peer_id{}, taken);
    if (asked_outcome_)
      verdict_times_.observed(asked_outcome_->first,
                              self_->clock().now() - asked_outcome_->second);
    // A conductor that was restarted meanwhile applies the mean all the same.
    if (x.mean && x.contract.step == own_.step + 1 && stage_ != stage::applying
        && stage_ != stage::fetching && stage_ != stage::finished) {
      round_ = x;
      stage_ = stage::applying;
      tell_facts();
      self_->send(wired_.compute, apply_mean{x.contract.step, x.samples, x.mean,
                                             aside_, redraws()});
      pump();
      return;
    }
  }
  if (stage_ == stage::averaging)
    enter(stage::accumulating);
}

void conductor_state::note_silence(const round_over& x) {
  for (std::size_t i = 0; i < x.contract.members.size(); ++i) {
    const auto& id = x.contract.members[i].who.id;
    if (std::find(x.silent.begin(), x.silent.end(), id) == x.silent.end()) {
      bool took_part
          = x.committed
            && !std::binary_search(x.left_out.begin(), x.left_out.end(), i);
      if (took_part || x.watched)
        silences_.erase(id);
      continue;
    }
    // Whom groups have formed without lately has had its second chance.
    auto enough = doubted_lately(id) ? 1 : limits::silent_rounds;
    if (++silences_[id] < enough)
      continue;
    silences_.erase(id);
    // No proof of bad will, so no ban: the group forms without it for a while.
    auto wait = set_aside_longer(id);
    self_->send(wired_.observer,
                event{"fault",
                      {{"peer", short_name(id)},
                       {"what", std::string{"silent in rounds"}},
                       {"detail", "groups form without it for "
                                      + std::to_string(wait.count()) + " s"}}});
  }
}

void conductor_state::set_aside(const peer_id& id, duration how_long) {
  distrusted_[id] = {self_->clock().now() + how_long};
  if (id != config_.self) {
    reports_.erase(id);
    tally_.forget(id);
    tracker_->forget(id);
  }
  tell_facts();
}

bool conductor_state::is_distrusted(const peer_id& id) const {
  auto i = distrusted_.find(id);
  return i != distrusted_.end() && self_->clock().now() < i->second.until;
}

bool conductor_state::doubted_lately(const peer_id& id) const {
  auto i = doubts_.find(id);
  return i != doubts_.end()
         && self_->clock().now() - i->second.second <= misconduct::memory;
}

std::chrono::seconds conductor_state::set_aside_longer(const peer_id& id) {
  // Who lies soon has nobody left to lie to; who was only lied about is back
  // after a minute.
  auto now = self_->clock().now();
  auto again = doubted_lately(id);
  auto& [times, last] = doubts_[id];
  if (!again)
    times = 0;
  auto wait = std::chrono::seconds{limits::distrust}
              * (1 << std::min(times, limits::most_doublings));
  last = now + wait;
  ++times;
  set_aside(id, wait);
  return wait;
}

void conductor_state::on(const members_doubted& x) {
  for (auto& id : x.who) {
    if (x.for_so_long) {
      set_aside(id, *x.for_so_long);
      continue;
    }
    auto wait = set_aside_longer(id);
    distrusted_[id].contradicted = true;
    self_->send(wired_.observer,
                event{"fault",
                      {{"peer", short_name(id)},
                       {"what", std::string{"doubted"}},
                       {"detail", x.why + "; groups form without it for "
                                      + std::to_string(wait.count()) + " s"}}});
  }
}

// ---- steps
// -------------------------------------------------------------------------------

void conductor_state::on(const state_changed& x) {
  auto restarted = stage_ == stage::starting;
  if (!x.applied && x.problem.empty() && !restarted && x.state == held_
      && stage_ != stage::fetching)
    return; // Compute repeats itself to whoever is new.
  auto before = held_;
  own_.step = x.step;
  gradient_values_ = x.gradient_values;
  if (config_.micro_batch == 0)
    micro_batch_ = std::max(1u, x.usual_request);
  own_.history_samples = x.history_samples;
  held_ = x.state;
  own_.state = reported_state(x.step, x.state);
  count_from_here();
  gathering_ = false;
  if (stage_ == stage::fetching) {
    // The state keeper lays means on the state; it says when that is over.
    tell_facts();
    announce(true);
    return;
  }
  if (x.applied) {
    note_step(x);
    // Nobody could use the mean of another redrawn group.
    if (round_ && round_->mean && wired_.state_keeper && !redraws())
      self_->send(wired_.state_keeper,
                  mean_applied{{x.step, round_->samples, x.history_samples,
                                before, x.state, round_->mean}});
  }
  if (!x.problem.empty())
    self_->send(wired_.observer, event{"fault",
                                       {{"what", std::string{"mean refused"}},
                                        {"detail", x.problem}}});
  if (restarted && wired_.compute && guarded(safeguard::restart_gradient))
    self_->send(wired_.compute, drop_gradient{}); // Its samples are uncounted.
  if (restarted && !config_.order.shared)
    order_seed_ = mix(order_seed_, x.step); // Not the first samples once more.
  begin_step();
}

/// Whatever came before: an applied mean, a download, or nothing.
void conductor_state::begin_step() {
  behind_since_.reset();
  group_due_since_.reset();
  others_average_since_.reset();
  auto now = self_->clock().now();
  if (std::exchange(in_a_step_, true))
    keep_pace(now - step_began_);
  step_began_ = now;
  dissolved_ = 0;
  lead_not_before_ = {};
  leaders_.begin_step();
  shunned_since_.reset();
  if (own_.step < settings().steps)
    enter(stage::accumulating);
  else
    finish();
}

void conductor_state::note_step(const state_changed& x) {
  double loss = 0;
  double samples = 0;
  std::uint64_t own = 0;
  if (round_) {
    // Of those that are in every chunk; others may be in some.
    auto& out = round_->left_out;
    auto& members = round_->contract.members;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (std::binary_search(out.begin(), out.end(), i))
        continue;
      loss += members[i].loss_sum;
      samples += static_cast<double>(members[i].samples);
      if (members[i].who.id == config_.self)
        own = members[i].samples;
    }
    last_loss_ = samples > 0 ? loss / samples : 0;
    last_share_ = samples > 0 ? static_cast<double>(own) / samples : 0;
  }
  auto took = duration{self_->clock().now() - step_began_};
  auto seconds = std::chrono::duration<double>(took).count();
  event news{"step",
             {{"step", x.step},
              {"loss", last_loss_},
              {"samples", round_ ? round_->samples : 0},
              {"peers", std::uint64_t{round_ ? round_->contract.members.size()
                                                   - round_->left_out.size()
                                             : 0}},
              {"left_out", std::uint64_t{round_ ? round_->left_out.size() : 0}},
              {"healed", round_ && round_->healed},
              {"digest", to_string(x.state)},
              {"history_samples", x.history_samples},
              {"seconds", seconds},
              {"share", last_share_},
              {"samples_per_second", seconds > 0 ? samples / seconds : 0}}};
  if (redraws())
    news.fields.push_back({"averaged", to_string(x.averaged)});
  self_->send(wired_.observer, std::move(news));
  if (config_.writes_checkpoints && config_.checkpoint_every > 0
      && x.step % config_.checkpoint_every == 0 && x.step < settings().steps)
    self_->send(wired_.state_keeper, save_checkpoint_now{x.step});
}

} // namespace potluck
