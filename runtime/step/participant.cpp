#include "runtime/step/participant.hpp"

#include <iterator>

#include "runtime/membership/limits.hpp"
#include "runtime/step/step_news.hpp"
#include "runtime/step/telling.hpp"

namespace potluck {

participant::participant(step_settings how, time_point now)
    : how_(std::move(how)),
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
}

void participant::on(const surroundings& x) {
  me_.await_place(x.decide_place);
  announce(true);
  tell_facts();
  out(computing_.pace().pace());
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
    out(own_report{me_.told(std::move(report)), urgent});
}

void participant::tell_facts() {
  auto open = me_.averages()
              && (stage_ == stage::accumulating || stage_ == stage::frozen);
  out(facts_of(*way_, at(), company_.doubted(), leading_.order(), open,
               parameters_));
}

run_status participant::status(const round_watch::result& last) {
  auto result = status_of(at(), last, run().steps);
  result.trouble = company_.trouble();
  if (result.trouble.empty())
    result.trouble = part_of(own(), run().group_size, told_rest_);
  return result;
}

void participant::on(const peer_joined& x) {
  add(company_.joined(x, own().step, now_));
}

void participant::on(const line_measured& x) {
  me_.measure(x);
}

void participant::on(const members_doubted& x) {
  add(company_.doubt(x, now_));
  for (auto& who : x.who)
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
