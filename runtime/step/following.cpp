#include "runtime/step/following.hpp"

#include <algorithm>
#include <utility>

#include "runtime/history/signed_steps.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/step/step_news.hpp"

namespace potluck {

following::following(step_settings how, time_point now)
    : participant(std::move(how), now), history_(new_history()),
      signing_(this->how().self, this->how().signs) {
  if (this->how().awaits_roots)
    roots_until_ = now + limits::roots_patience;
}

own_history following::new_history() {
  const auto created = !id_in(how().agreed.settings().run).empty();
  return {how().self, averaging().one_history(),
          !created && !how().awaits_roots};
}

// ---- what is signed ---------------------------------------------------------

void following::sign_step(const round_over& x, const digest& before) {
  if (!averaging().one_history())
    return; // Nobody else has made the same step.
  signed_step step;
  step.charter = how().agreed.digest();
  step.step = own().step;
  step.history_samples = own().history_samples;
  step.samples = x.samples;
  step.before = before;
  step.after = own().state;
  step.makers = makers_of(x.contract, x.left_out);
  me().sign(signing_.made(std::move(step)));
  for (const auto& other : others().known().reports())
    signing_.heard(other.second);
  keep_signed(true);
}

void following::keep_signed(bool whole) {
  if (auto step = signing_.worth_keeping(whole, now()))
    out(step_signed{std::move(*step)});
}

void following::heard_signed(const progress_report& x) {
  signing_.heard(x);
  keep_signed(true);
}

// ---- where a newcomer begins ------------------------------------------------

void following::know_roots(const roots_known& x) {
  roots_until_.reset();
  if (how().awaits_roots && own().history_samples == 0 && !x.makers.empty())
    history_.learn(x.makers, now());
  look_at_roots();
}

void following::look_at_roots() {
  hold_off(trains() && own().history_samples == 0
           && (awaits_roots() || history_.goes_by_learnt(now())));
}

// ---- what counts more -------------------------------------------------------

own_history::choice following::better() {
  if (!how().guards.has(safeguard::longer_history) || awaits_roots())
    return {};
  auto all = others().tracker().averaging(now());
  auto doubted = others().doubted_trainers(now());
  const auto without = [&](const auto& no) {
    for (auto* x : {&all, &doubted})
      x->erase(std::remove_if(x->begin(), x->end(), no), x->end());
  };
  // Another first state than the run's is nobody's to take over.
  if (const auto first = how().agreed.settings().initial_digest();
      !first.empty())
    without([&](auto* x) { return x->step == 0 && x->state != first; });
  // Who waits for the state of a roll-back has no history.
  const auto begins = era_begins();
  without([&](auto* x) { return x->step < begins; });
  auto result = history_.better(own(), all, doubted, now());
  const auto ends
      = [this](const progress_report& x) { return x.step >= run().steps; };
  if (!trains() || result.vouched_for || result.is_next_step
      || result.donors.empty() || !ends(result.donors.front()))
    return result;
  // No run ends by one peer's word: the others count.
  without([&](auto* x) { return ends(*x); });
  return history_.better(own(), all, doubted, now());
}

bool following::waits_for_others() {
  const auto is_here
      = [this](auto& who) { return others().known().connected(who); };
  return holds_off() || history_.waits(is_here, now())
         || (averaging().one_history() && own().history_samples == 0
             && !better().donors.empty());
}

void following::catch_up_if_behind(duration patience) {
  // Also when finished: a part that finished apart has another last state.
  auto free = (in() == stage::accumulating && !own().state.empty())
              || lacks_first_state()
              || (in() == stage::finished && !others().end().over()
                  && !others().end().checkpoint_pending());
  if (!free || !trains() || averaging().question()
      || !catching_up_.may_begin(now()))
    return;
  auto choice = better();
  if (choice.donors.empty()) // Most of the time.
    return;
  auto donors = averaging().donors(at(), std::move(choice.donors), patience);
  if (donors.empty())
    return;
  vouched_for_ = choice.vouched_for;
  next_step_ = choice.is_next_step;
  add(work().reopen());
  go(cause::behind);
  tell_facts();
  announce(true);
  out(catching_up_.begin(donors, own(), me().held(), !averaging().one_history(),
                         next_step_, now()));
}

bool following::go_back_if_told() {
  const bool free = in() == stage::accumulating || in() == stage::finished;
  if (!free || !must_go_back() || (trains() && own().state.empty())
      || averaging().question())
    return false;
  const auto to = begin_era();
  if (to) {
    add(work().reopen());
    go(cause::behind);
    goes_back_ = true;
    out(go_back{*to});
  }
  tell_facts();
  announce(true);
  return to.has_value();
}

// ---- what was fetched -------------------------------------------------------

bool following::fetched(const state_fetched& x) {
  if (std::exchange(goes_back_, false)) {
    add(work().drop());
    hold_era();
    if (own().step == era_begins())
      history_.adopts(own().step, own().state, true); // The organiser's word.
    else // It is a newcomer to what the others hold.
      history_ = new_history();
    out(event{"rolled_back",
              {{"step", own().step}, {"digest", to_string(me().held())}}});
    return true;
  }
  add(others().caught_up());
  out(catching_up_.news(x.result, me().held(), own().step));
  if (x.result.own_history_lost || x.result.own_history_unknown)
    out(island_news(x.result, own().step));
  return takes_over(x.result.whole_state);
}

void following::forget_steps() {
  if (averaging().one_history())
    others().tracker().forget_steps();
}

bool following::takes_over(bool whole) {
  forget_steps();
  if (whole)
    history_.adopts(own().step, own().state, vouched_for_,
                    catching_up_.donors());
  if (own().step < run().steps || vouched_for_)
    return true;
  end_in_doubt_ = now();
  return false;
}

bool following::takes_over_part() {
  const auto& from = catching_up_.from();
  return takes_over(!history_.goes_through(from.step, from.state));
}

bool following::end_is_settled() {
  if (!end_in_doubt_)
    return false;
  if (history_.is_held_by_most(own(), others().tracker().averaging(now()))) {
    end_in_doubt_.reset();
    history_.adopts(own().step, own().state, true);
    return true;
  }
  if (now() - *end_in_doubt_ >= limits::end_patience) {
    end_in_doubt_.reset();
    out(peer_over{finishing::unproven(own().step)});
  }
  return false;
}

catching_up::outcome following::fetch_failed(const state_fetch_failed& x) {
  const auto& asked = catching_up_.donors();
  const auto lied = std::all_of(asked.begin(), asked.end(), [&](auto& id) {
    return others().doubted().has(id, now());
  });
  auto outcome = catching_up_.failed(me().held(), x.put_aside, lied, now());
  if (next_step_)
    history_.next_step_failed(now());
  if (outcome == catching_up::outcome::partly)
    out(catching_up_.news_of_part(me().held(), own().step, now()));
  return outcome;
}

// ---- what is held -----------------------------------------------------------

bool following::is_over() {
  return trains() && !own().state.empty() && own().step >= run().steps;
}

void following::save_checkpoint() {
  if (!how().writes_checkpoints)
    return;
  if (history_.vouched_for())
    out(save_checkpoint_now{own().step});
  else
    out(fault_news("checkpoint withheld",
                   "the state of step " + std::to_string(own().step)
                       + " came from one peer alone, and overwrites nothing "
                         "before more steps were made with others"));
}

} // namespace potluck
