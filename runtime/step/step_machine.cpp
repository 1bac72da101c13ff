#include "runtime/step/step_machine.hpp"

#include <algorithm>
#include <utility>

#include "runtime/history/signed_steps.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/step/step_news.hpp"
#include "runtime/step/telling.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// Between two lines for a person's screen.
constexpr auto status_interval = 250ms;
/// ...and at least so long for each peer that it counts: a sponsor has
/// hundreds.
constexpr auto status_pause_a_peer = 4ms;

/// Of the samples that a member has, those that count.
std::uint64_t counted_in(const group_contract& x, const peer_id& who,
                         std::uint64_t samples) {
  for (const auto& m : x.members)
    if (m.who.id == who && m.samples > 0)
      return std::min(m.samples, samples);
  return samples;
}

} // namespace

// ---- stages -----------------------------------------------------------------

void step_machine::enter(cause why) {
  if (!go(why))
    return;
  if (in() == stage::accumulating) {
    take_terms();
    add(work().reopen());
    round_.reset();
    averaging().thawed();
  }
  tell_facts();
  announce(true);
  if (in() == stage::accumulating && is_over())
    return finish(); // The organiser has said so meanwhile.
  if (in() == stage::accumulating && !go_back_if_told()) {
    catch_up_if_behind();
    pump();
    announce(false);
  }
}

void step_machine::begin_step() {
  take_terms();
  if (in() == stage::starting && own().step > 0)
    history_.resumes();
  history_.holds(own().step, own().state);
  averaging().begin_step();
  turn().begin_step();
  if (auto pace = work().pace().begin_step(now()))
    out(*pace);
  if (how().writes_checkpoints && history_.vouched_for())
    out(may_be_saved{me().held()});
  if (own().step < run().steps)
    enter(cause::state_shown);
  else
    finish();
}

bool step_machine::is_over() {
  return trains() && !own().state.empty() && own().step >= run().steps;
}

void step_machine::finish() {
  const auto saves = how().writes_checkpoints && history_.vouched_for();
  others().end().made_last_step(saves, now());
  enter(cause::last_state);
  add(others().last_word());
  out(event{"finished",
            {{"step", own().step},
             {"loss", round_.last().loss},
             {"samples", own().history_samples},
             {"digest", to_string(me().held())}}});
  save_checkpoint();
  end_if_done();
}

void step_machine::save_checkpoint() {
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

// ---- accumulating -----------------------------------------------------------

void step_machine::on(const batch_done& x) {
  if (!work().account().asked_for(x)
      && how().guards.has(safeguard::batch_number))
    return; // Asked for by a predecessor; what it computed is dropped.
  if (in() == stage::fetching)
    catching_up_.batch_ended();
  compute([&](auto s) { return work().ended(x, s); });
  if (in() == stage::frozen) {
    if (!round_.told())
      report_frozen();
    pump();
    return;
  }
  if (work().goes_ahead(in())) {
    pump();
    return;
  }
  compute([&](auto s) { return work().answer(s); });
  others().tracker().update_self(averaging().reported(at()), now());
  if (!averaging().question())
    compute([&](auto s) { return work().close_if_complete(s); });
  lead_if_due();
  pump();
  announce(x.result.samples > 0
           && (!own().contributes || own().samples == x.result.samples));
}

void step_machine::on(const gradient_lent& x) {
  if (!averaging().question())
    return;
  compute([&](auto s) { return work().give(x, s); });
  announce(true);
}

// ---- groups -----------------------------------------------------------------

void step_machine::lead_if_due() {
  if (in() != stage::accumulating || !trains() || own().state.empty()
      || !me().averages() || stands_still() || !averaging().due(at())) {
    turn().not_due();
    return;
  }
  const auto is_here
      = [this](auto& who) { return others().known().connected(who); };
  // Steps are made behind others', not beside them.
  if (holds_off() || history_.waits(is_here, now())
      || (averaging().one_history() && own().history_samples == 0
          && !better().donors.empty()))
    return;
  const auto here = at();
  const auto partners = averaging().partners(here);
  const auto patience = round_.patience();
  if (!averaging().can_lead(here, partners) || ends_elsewhere(partners)
      || !turn().leads(averaging(), here, partners,
                       others().doubted().has(how().self, now()),
                       work().pace().step(), patience))
    return;
  auto order = invitation(averaging(), here, partners, auxiliaries(),
                          others().doubted(), patience, run().target_batch);
  tell_facts(); // What this peer will have answered itself.
  // Asked only once: matchmaking answers with a freeze or a dissolution.
  go(cause::group_asked);
  round_.lead();
  out(std::move(order));
}

void step_machine::on(const freeze_wanted& x) {
  if (stands_still() || !go(cause::group_asked)) {
    tell_facts(); // Its news crossed ours: the invitation is to be declined.
    return;
  }
  round_.freeze_for(x.group);
  turn().not_due();
  announce(true);
  tell_facts(); // Whom our answer is to avoid, and what our cell is.
  // What was told once is told to every group: it is answered with the same
  // figures, perhaps already, so nothing may be added.
  if (!round_.told()) {
    std::chrono::duration<double> computing
        = computing_time(others().tracker(), run().target_batch, now());
    if (auto order = averaging().gather(at(), parameters(), computing.count()))
      out(std::move(*order));
  }
  if (round_.told() || work().at_rest()
      || !how().guards.has(safeguard::frozen_gradient))
    report_frozen();
}

void step_machine::report_frozen() {
  if (round_.group().empty() || (!round_.told() && averaging().gathering()))
    return;
  out(gradient_frozen{round_.group(), counted().samples, counted().loss_sum});
  if (!round_.tell() || !work().delayed())
    return;
  others().tracker().update_self(averaging().reported(at()), now());
  compute([&](auto s) { return work().close(s); });
  pump();
}

void step_machine::on(const group_dissolved& x) {
  if (in() == stage::frozen && round_.is_ours(x.group)) {
    turn().dissolved(now());
    enter(cause::came_apart);
  }
}

void step_machine::on(const group_formed& x) {
  if (in() != stage::frozen || x.contract.group != round_.group()) {
    // A machine that was replaced meanwhile: the others must not wait.
    out(member_withdrew{x.contract.group, how().self});
    return;
  }
  round_.form(x);
  others().averages(x.contract);
  averaging().formed(x.contract);
  turn().formed();
  if (averaging().one_history())
    others().tracker().formed(now());
  enter(cause::formed);
  plan_for(x, round_.why_planned());
  out(begin_round{round_.formed()->contract, x.plan,
                  !averaging().one_history()});
  if (trains() && counted().samples > 0)
    out(lend_gradient{work().account().aside(),
                      counted_in(x.contract, how().self, counted().samples),
                      averaging().lends_parameters(), x.contract.group,
                      counted().samples});
}

void step_machine::on(const round_over& x) {
  out(round_news(x, !averaging().one_history()));
  auto silent = others().silent(x, now());
  if (const auto& formed = round_.formed();
      formed && formed->contract.group == x.contract.group)
    auxiliaries().heard(x, formed->plan, now());
  for (const auto& id : x.stalled)
    out(fault_news(
        id, "stalled",
        "it did not average its chunks in time; the next plan counts "
        "on it less"));
  const auto in_vain = round_.over(x, own().step, now());
  if (in_vain)
    turn().came_to_nothing(x.contract.members.front().who.id);
  if (in_vain || !silent.empty())
    tell_facts();
  add(std::move(silent));
  // A machine that was replaced meanwhile applies the mean all the same.
  if (x.committed && x.mean && x.contract.step == own().step + 1
      && go(cause::committed)) {
    round_.apply(x);
    tell_facts();
    out(apply_mean{x.contract.step, x.samples, x.mean, work().account().aside(),
                   averaging().lends_parameters()});
    pump();
  } else if (in() == stage::averaging) {
    enter(cause::aborted);
  }
}

// ---- steps ------------------------------------------------------------------

void step_machine::on(const state_changed& x) {
  if (!x.applied && x.problem.empty() && x.state == me().held()
      && in() != stage::starting && in() != stage::fetching)
    return; // Compute repeats itself to whoever is new.
  const auto before = me().held();
  if (x.applied)
    keep_signed(false);
  hold(x);
  look_at_roots();
  if (x.state.empty()) {
    tell_facts();
    announce(true);
    return catch_up_if_behind();
  }
  if (in() == stage::fetching) {
    // The state keeper lays means on the state; it says when that is over.
    history_.holds(own().step, own().state);
    tell_facts();
    announce(true);
    return;
  }
  if (x.applied)
    note_step(x, before);
  if (!x.problem.empty())
    out(fault_news("mean refused", x.problem));
  begin_step();
}

void step_machine::note_step(const state_changed& x, const digest& before) {
  const auto& round = round_.applied();
  round_.note_outcome(how().self);
  if (round) {
    history_.made(round->contract, round->left_out, now());
    sign_step(*round, before);
    if (averaging().one_history()) {
      turn().newcomers().made(how().self, round->contract, round->left_out);
      others().tracker().made(round->contract, round->left_out);
    }
  }
  std::chrono::duration<double> took = work().pace().since(now());
  out(step_news(x, round ? &*round : nullptr, round_.last(), took.count(),
                !averaging().one_history()));
  add(others().stepped(now()));
  if (how().checkpoint_every > 0 && x.step % how().checkpoint_every == 0
      && x.step < run().steps)
    save_checkpoint();
  // Nobody could use the mean of another group's step.
  if (round && averaging().one_history())
    out(mean_applied{{x.step, round->samples, x.history_samples, before,
                      x.state, round->mean,
                      others().known().reports().empty()}});
}

void step_machine::sign_step(const round_over& x, const digest& before) {
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

void step_machine::keep_signed(bool whole) {
  if (auto step = signing_.worth_keeping(whole, now()))
    out(step_signed{std::move(*step)});
}

// ---- cells ------------------------------------------------------------------

void step_machine::on(const contribution_ready& x) {
  const auto before = counted().samples;
  compute([&](auto s) { return work().add(x, s, round_.told()); });
  if (counted().samples != before)
    others().gave(x.what->from); // It is counted here now.
}

void step_machine::on(const gathering_over& x) {
  if (x.step == own().step && averaging().gathered() && in() == stage::frozen
      && work().at_rest() && !round_.told())
    report_frozen();
}

// ---- the others -------------------------------------------------------------

void step_machine::on(const peer_left& x) {
  add(others().left(x, own(), now()));
  turn().newcomers().left(x.id, now());
  averaging().lost(x.id);
  if (x.orderly)
    history_.parted(x.id);
  end_if_done();
}

void step_machine::on(const report_heard& x) {
  const auto& r = x.report;
  if (!r.charter.empty())
    turn().newcomers().heard(r.id);
  const auto worth = others().heard(r, own(), now());
  if (worth == company::worth::nothing)
    return;
  if (worth == company::worth::forgiven)
    tell_facts();
  averaging().heard(at(), r);
  history_.heard(r.id, now());
  signing_.heard(r);
  keep_signed(true);
  // Nobody is led, or asked for a state, by what a contributor says: a sponsor
  // hears of hundreds.
  const auto matters
      = !trains()
        || (in() == stage::fetching && history_.has_a_say(own(), r.id, now()));
  if (!r.contributes && matters && r.role == role::trainer
      && r.phase != phase::joining)
    out(x);
  if (!r.contributes && in() == stage::averaging)
    for (auto& question :
         round_.hear(r, others().known(), averaging().one_history(), now()))
      out(std::move(question));
  if (!r.contributes && trains()) {
    catch_up_if_behind();
    lead_if_due();
    if (work().delayed())
      pump(); // There may be enough samples now(), or too few again.
  } else if (!trains() && me().follow(better().donors)) {
    take_terms();
    announce(false);
  }
  end_if_done();
}

// ---- the organiser's word ---------------------------------------------------

void step_machine::on(const terms_known& x) {
  keep_terms(x.terms);
  if (in() == stage::frozen || in() == stage::averaging
      || in() == stage::applying)
    return; // What its group was told holds until the step is over.
  take_terms();
  if (in() == stage::starting || in() == stage::fetching || go_back_if_told())
    return;
  if (trains() && !own().state.empty()
      && is_over() != (in() == stage::finished))
    return begin_step();
  tell_facts();
  pump();
  lead_if_due();
  end_if_done();
}

bool step_machine::go_back_if_told() {
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

// ---- where a newcomer begins -----------------------------------------------

void step_machine::on(const roots_known& x) {
  roots_until_.reset();
  if (how().awaits_roots && own().history_samples == 0 && !x.makers.empty())
    history_.learn(x.makers, now());
  look_at_roots();
  catch_up_if_behind();
}

void step_machine::look_at_roots() {
  hold_off(trains() && own().history_samples == 0
           && (awaits_roots() || history_.goes_by_learnt(now())));
}

// ---- catching up ------------------------------------------------------------

own_history step_machine::new_history() {
  const auto created = !id_in(how().agreed.settings().run).empty();
  return {how().self, averaging().one_history(),
          !created && !how().awaits_roots};
}

own_history::choice step_machine::better() {
  if (!how().guards.has(safeguard::longer_history) || awaits_roots())
    return {};
  auto all = others().tracker().averaging(now());
  // Another first state than the run's is nobody's to take over.
  if (const auto first = how().agreed.settings().initial_digest();
      !first.empty())
    all.erase(std::remove_if(
                  all.begin(), all.end(),
                  [&](auto* x) { return x->step == 0 && x->state != first; }),
              all.end());
  // Who waits for the state of a roll-back has no history.
  const auto begins = era_begins();
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](auto* x) { return x->step < begins; }),
            all.end());
  auto result = history_.better(own(), all, now());
  const auto ends
      = [this](const progress_report& x) { return x.step >= run().steps; };
  if (!trains() || result.vouched_for || result.is_next_step
      || result.donors.empty() || !ends(result.donors.front()))
    return result;
  // No run ends by one peer's word: the others count.
  all.erase(
      std::remove_if(all.begin(), all.end(), [&](auto* x) { return ends(*x); }),
      all.end());
  return history_.better(own(), all, now());
}

void step_machine::catch_up_if_behind() {
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
  auto donors
      = averaging().donors(at(), std::move(choice.donors), round_.patience());
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

void step_machine::on(const state_fetched& x) {
  if (in() != stage::fetching)
    return;
  if (std::exchange(goes_back_, false)) {
    add(work().drop());
    hold_era();
    if (own().step == era_begins())
      history_.adopts(own().step, own().state, true); // The organiser's word.
    else // It is a newcomer to what the others hold.
      history_ = new_history();
    out(event{"rolled_back",
              {{"step", own().step}, {"digest", to_string(me().held())}}});
    return begin_step();
  }
  add(others().caught_up());
  out(catching_up_.news(x.result, me().held(), own().step));
  if (x.result.own_history_lost || x.result.own_history_unknown)
    out(island_news(x.result, own().step));
  begin_with_fetched(x.result.whole_state);
}

void step_machine::begin_with_fetched(bool whole) {
  if (averaging().one_history())
    others().tracker().forget_steps();
  if (whole)
    history_.adopts(own().step, own().state, vouched_for_,
                    catching_up_.donors());
  if (own().step < run().steps || vouched_for_)
    begin_step();
  else
    end_in_doubt_ = now();
  look_at_end();
}

void step_machine::look_at_end() {
  if (!end_in_doubt_)
    return;
  if (history_.is_held_by_most(own(), others().tracker().averaging(now()))) {
    end_in_doubt_.reset();
    history_.adopts(own().step, own().state, true);
    begin_step();
  } else if (now() - *end_in_doubt_ >= limits::end_patience) {
    end_in_doubt_.reset();
    out(peer_over{finishing::unproven(own().step)});
  }
}

void step_machine::on(const state_fetch_failed& x) {
  out(fault_news("state download failed", x.reason));
  if (in() != stage::fetching || goes_back_)
    return;
  const auto& asked = catching_up_.donors();
  const auto lied = std::all_of(asked.begin(), asked.end(), [&](auto& id) {
    return others().doubted().has(id, now());
  });
  auto outcome = catching_up_.failed(me().held(), x.put_aside, lied, now());
  if (next_step_)
    history_.next_step_failed(now());
  if (outcome == catching_up::outcome::partly) {
    out(catching_up_.news_of_part(me().held(), own().step, now()));
    const auto& from = catching_up_.from();
    begin_with_fetched(!history_.goes_through(from.step, from.state));
    return;
  }
  if (outcome == catching_up::outcome::uncounted)
    add(work().drop());
  enter(own().state.empty()     ? cause::none_held
        : others().end().made() ? cause::last_kept
                                : cause::not_fetched);
}

// ---- the end ----------------------------------------------------------------

void step_machine::on(const checkpoint_saved& x) {
  others().end().checkpoint_saved(x.step, x.problem);
  out(event{"checkpoint",
            {{"step", x.step}, {"path", x.path}, {"problem", x.problem}}});
  end_if_done();
}

void step_machine::end_if_done() {
  auto last = trains() ? in() == stage::finished : own().step >= run().steps;
  const auto is_laggard = [this](const progress_report& x) {
    return !history_.is_foreign(own(), x, now());
  };
  if (!last || !others().lets_go(own(), is_laggard, now()))
    return;
  out(status(round_.last()));
  out(peer_over{others().end().unsaved()});
}

bool step_machine::ends_elsewhere(const way::reports& partners) {
  // Groups that make their steps apart make the last one apart, too.
  return averaging().one_history() && own().step < run().steps
         && others().end().outnumbers(partners.size() + 1);
}

void step_machine::give_up_if_too_late() {
  auto outnumbered = in() == stage::accumulating && trains() && me().averages()
                     && !own().state.empty()
                     && ends_elsewhere(averaging().partners(at()));
  if (others().end().too_late(outnumbered, now()))
    out(peer_over{finishing::cut_off(own().step, run().steps)});
}

// ---- telling ----------------------------------------------------------------

void step_machine::on(const time_passed&) {
  if (auto postponed = me().postponed())
    on(*postponed);
  if (in() == stage::averaging)
    who_rests().look(); // While nothing waits for it.
  go_back_if_told();
  look_at_end();
  look_at_roots();
  catch_up_if_behind();
  pump();
  lead_if_due();
  end_if_done();
  give_up_if_too_late();
  if (auto pace = work().pace().look(now()))
    out(*pace);
  add(others().look(now()));
  if (how().shows_status && now() >= next_status_) {
    auto pause = others().known().reports().size() * status_pause_a_peer;
    next_status_ = now() + std::max<duration>(status_interval, pause);
    out(status(round_.last()));
  }
  out(look_later{
      work().pace().next_look(own().contributes, how().self, now())});
}

} // namespace potluck
