#include "runtime/step/participant.hpp"

#include <iterator>

#include "runtime/config.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/state/little_endian.hpp"
#include "runtime/step/step_news.hpp"
#include "runtime/step/telling.hpp"

namespace potluck {

namespace {

/// What reports have in the place of the charter's digest, so that those from
/// before a roll-back count for nobody behind it.
digest era_digest(const digest& charter, std::uint64_t era) {
  std::string bytes{charter.bytes.begin(), charter.bytes.end()};
  append_little_endian(bytes, era);
  return digest_of(bytes.data(), bytes.size());
}

/// The state as groups compare it.
digest shaped(const digest& state, const digest& shape) {
  if (shape.empty())
    return state;
  std::string bytes{state.bytes.begin(), state.bytes.end()};
  bytes.append(shape.bytes.begin(), shape.bytes.end());
  return digest_of(bytes.data(), bytes.size());
}

} // namespace

participant::participant(step_settings how, time_point now)
    : how_(std::move(how)), run_(how_.agreed.settings()),
      next_terms_(how_.terms), era_(*how_.era),
      way_(make_way(run(), trains(), how_.agreed.digest())),
      stage_(trains() ? stage::starting : stage::accumulating), now_(now),
      me_(introduction(how_)),
      computing_(account_of(how_), trains(), run().delayed_updates(), now,
                 how_.guards),
      company_(how_.self, run(), trains(), !way_->one_history()),
      // In a shared order nobody else computes this peer's samples.
      resting_(how_.self, rules_of(run()),
               !how_.always_computes && !how_.order.shared) {
  if (how_.replaces)
    company_.end().lost_trainer(now);
  if (!trains())
    company_.tracker().forget_steps(); // It makes none.
  how_.terms.reset();
  if (era_ != 0)
    me_.enter_era(era_digest(how_.agreed.digest(), era_));
  take_terms();
}

void participant::on(const surroundings& x) {
  if (how_.terms) // Compute may be new.
    out(terms_known{how_.terms});
  me_.await_place(x.decide_place);
  announce(true);
  tell_facts();
  out(computing_.pace().pace());
}

void participant::take_terms() {
  if (next_terms_) {
    how_.terms = std::exchange(next_terms_, nullptr);
    out(terms_known{how_.terms});
  }
  look_at_terms();
}

void participant::look_at_terms() {
  if (!how_.terms)
    return;
  const auto& terms = *how_.terms;
  const auto held = me_.own().step;
  run_.steps = terms.steps(held);
  company_.end().ends_after(run_.steps);
  computing_.ends_after(run_.steps);
  standstill_.clear();
  const auto& back = terms.rolled_back();
  if (terms.paused(held))
    standstill_ = "paused by the run's organiser";
  else if (trains() && back && era_ == back->number
           && (held < back->to.step || holds_another(back->to)))
    standstill_ = "waiting for somebody who has the state of step "
                  + std::to_string(back->to.step)
                  + ", to which the run was rolled back";
}

bool participant::holds_another(const roll_back& x) const {
  return me_.own().step == x.step && !x.state.empty() && me_.held() != x.state;
}

std::uint64_t participant::era_begins() const {
  if (!how_.terms || !how_.terms->rolled_back()
      || how_.terms->rolled_back()->number != era_)
    return 0;
  return how_.terms->rolled_back()->to.step;
}

bool participant::must_go_back() const {
  return how_.terms && how_.terms->rolled_back()
         && how_.terms->rolled_back()->number > era_;
}

std::optional<roll_back> participant::begin_era() {
  const auto& back = *how_.terms->rolled_back();
  era_ = back.number;
  me_.enter_era(era_digest(how_.agreed.digest(), era_));
  company_.begin_era();
  const auto held = me_.own().step;
  if (trains() && (held > back.to.step || holds_another(back.to)))
    return back.to;
  hold_era();
  return std::nullopt;
}

bool participant::go(cause why) {
  auto next = next_stage(stage_, why);
  if (next)
    stage_ = *next;
  return next.has_value();
}

const progress_report& participant::own() {
  me_.count(computing_.account().counted().samples);
  return me_.own();
}

outlook participant::at() {
  return {own(), company_.known(), now_, computing_.pace().pace().report};
}

void participant::add(actions more) {
  std::move(more.begin(), more.end(), std::back_inserter(out_));
}

bool participant::rests() {
  if (!me_.averages())
    return false; // No contract counts on its samples.
  const std::uint64_t ahead = computing_.account().aside() ? 2 : 1;
  return resting_.rests(me_.own().step + ahead, computing_.pace().since(now_))
         // A sponsor has others' gradients to send.
         && way_->reported(at()).contributors == 0;
}

void participant::tell_rest() {
  const auto rests = this->rests();
  if (rests == told_rest_)
    return;
  told_rest_ = rests;
  const auto* what = resting_.now();
  out(rest_news(me_.own().step + 1, rests, what ? *what : resting::verdict{}));
}

void participant::plan_for(const group_formed& x, const std::string& why) {
  std::string through;
  if (way_->one_history()) {
    through = relayed_through(*way_, at(), x.contract, run().group_size);
    resting_.formed(x.contract);
  }
  const auto* who = resting_.now();
  out(plan_news(x, way_->explain(at(), x.contract), why, through,
                who ? names_of(who->resting) : std::string{}));
}

void participant::pump() {
  if (stands_still())
    return;
  tell_rest();
  compute([&](auto s) { return computing_.pump(s); });
}

void participant::announce(bool urgent) {
  const auto& account = computing_.account();
  me_.update(phase_in(stage_, account.running() && !account.aside()),
             account.speed(), account.mean_loss());
  auto report = way_->reported(at());
  company_.tracker().update_self(report, now_);
  if (me_.is_news(urgent, computing_.pace().pace().look, now_))
    out(own_report{me_.told(std::move(report)), urgent,
                   leading_.order().first()});
}

void participant::tell_facts() {
  auto open = me_.averages() && !stands_still() && !holds_off_
              && (stage_ == stage::accumulating || stage_ == stage::frozen);
  auto facts = facts_of(*way_, at(), company_.doubted(), leading_.order(), open,
                        parameters_);
  // Who would make the step in another way is in another group.
  if (how_.terms)
    facts.state = shaped(facts.state, how_.terms->shape(facts.step + 1));
  out(std::move(facts));
}

run_status participant::status(const round_watch::result& last) {
  auto result = status_of(at(), last, run().steps);
  result.trouble = company_.trouble();
  if (stage_ == stage::starting && parameters_ > 0)
    result.trouble = "waiting for somebody who has the state that this run "
                     "began with, or a later one";
  if (stands_still())
    result.trouble = standstill_;
  if (result.trouble.empty())
    result.trouble = part_of(own(), run().group_size, told_rest_);
  return result;
}

void participant::on(const peer_joined& x) {
  const bool ours = x.charter.empty() || x.charter == how_.agreed.digest();
  if (x.role == role::trainer && ours && !company_.known().report(x.who.id))
    leading_.newcomers().joined(x.who.id);
  add(company_.joined(x, own().step, now_));
}

void participant::on(const line_measured& x) {
  me_.measure(x);
}

void participant::on(const members_doubted& x) {
  for (auto& who : x.who)
    if (const auto* known = company_.known().report(who);
        known && known->role == role::auxiliary)
      helpers_.distrust(who, limits::round_floor, now_);
  add(company_.doubt(x, now_));
  for (auto& who : x.who)
    if (!company_.known().report(who))
      way_->lost(who);
  tell_facts();
}

void participant::on(const donor_distrusted& x) {
  add(company_.doubt(x, now_));
  way_->lost(x.donor);
  tell_facts();
}

void participant::on(const cell_standing& x) {
  // In a group, or about to be in one: the next look tells it again.
  auto busy = stage_ == stage::frozen || stage_ == stage::averaging
              || stage_ == stage::applying || way_->question();
  auto changes = x.contributes != own().contributes;
  if (!me_.stand(x, busy))
    return;
  if (changes)
    add(computing_.reopen());
  if (changes && !x.contributes)
    company_.lost_sponsor(now_);
  company_.tracker().silent_after(x.contributes ? limits::members_report_life
                                                : limits::report_max_age);
  tell_facts();
  announce(true);
}

void participant::on(const contribution_wanted& x) {
  compute([&](auto s) { return computing_.asked(x, s); });
}

void participant::hold(const state_changed& x) {
  parameters_ = x.gradient_values;
  me_.hold(x, way_->reported_state(x.step, x.state));
  add(computing_.changed(x, stage_));
  way_->state_changed();
}

} // namespace potluck
