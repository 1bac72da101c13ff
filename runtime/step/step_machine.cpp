#include "runtime/step/step_machine.hpp"

#include <algorithm>
#include <utility>

#include "runtime/step/step_news.hpp"
#include "runtime/step/telling.hpp"

namespace potluck {

namespace {

/// Of the target batch: a leader may know of more samples than this peer.
constexpr double nearly_due = 0.75;

/// Of the samples that a member has, those that count.
std::uint64_t counted_in(const group_contract& x, const peer_id& who,
                         std::uint64_t samples) {
  for (const auto& m : x.members)
    if (m.who.id == who && m.samples > 0)
      return m.samples;
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
  look_who_leads();
  tell_facts();
  announce(true);
  if (in() == stage::accumulating && is_over())
    return finish(); // The organiser has said so meanwhile.
  if (in() == stage::accumulating && !go_back_if_told()) {
    catch_up_if_behind(round_.patience());
    pump();
    announce(false);
  }
}

void step_machine::begin_step() {
  take_terms();
  if (in() == stage::starting && own().step > 0) {
    history().resumes();
    forget_steps();
  }
  history().holds(own().step, own().state);
  averaging().begin_step();
  turn().begin_step();
  if (auto pace = work().pace().begin_step(now()))
    out(*pace);
  if (how().writes_checkpoints && history().vouched_for())
    out(may_be_saved{me().held()});
  if (own().step < run().steps)
    enter(cause::state_shown);
  else
    finish();
}

void step_machine::finish() {
  const auto saves = how().writes_checkpoints && history().vouched_for();
  others().end().made_last_step(saves, now());
  enter(cause::last_state);
  make_end();
  end_if_done();
}

// ---- accumulating -----------------------------------------------------------

void step_machine::on(const batch_done& x) {
  if (!work().account().asked_for(x)
      && how().guards.has(safeguard::batch_number))
    return; // Asked for by a predecessor; what it computed is dropped.
  if (in() == stage::fetching)
    batch_ended();
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

// ---- groups -----------------------------------------------------------------

bool step_machine::look_who_leads() {
  if (!trains() || in() != stage::accumulating || !me().averages())
    return false;
  const auto due = nearly_due * static_cast<double>(run().target_batch);
  return turn().look(averaging(), at(),
                     others().tracker().estimated_samples(now()) >= due,
                     round_.patience());
}

void step_machine::lead_if_due() {
  if (look_who_leads())
    tell_facts();
  if (in() != stage::accumulating || !trains() || own().state.empty()
      || !me().averages() || stands_still() || !averaging().due(at())) {
    turn().not_due();
    return;
  }
  if (waits_for_others())
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
                          others().needs_auxiliary(), others().doubted(),
                          patience, run().target_batch);
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
  told_at_ = now();
  out(gradient_frozen{round_.group(), counted().samples, counted().loss_sum});
  if (!round_.tell(counted().samples) || !work().delayed())
    return;
  others().tracker().update_self(averaging().reported(at()), now());
  compute([&](auto s) { return work().close(s); });
  pump();
}

void step_machine::on(const group_dissolved& x) {
  if (!x.miscounter.empty())
    turn().miscounts(x.miscounter);
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
  if (const auto& leader = x.contract.members.front().who.id;
      trains() && leader != how().self)
    turn().waited(leader, now() - told_at_,
                  computing_time(others().tracker(), run().target_batch, now()),
                  now());
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
                      counted_in(x.contract, how().self, round_.told_samples()),
                      averaging().lends_parameters(), x.contract.group,
                      round_.told_samples()});
}

void step_machine::on(const round_over& x) {
  note_round(x);
  auto held_up = std::chrono::duration<double>{x.seconds};
  if (const auto& formed = round_.formed();
      formed && formed->contract.group == x.contract.group) {
    auxiliaries().heard(x, formed->plan, now());
    held_up -= std::chrono::duration<double>{formed->plan.predicted_seconds};
  }
  auto silent = others().silent(
      x, std::chrono::duration_cast<duration>(held_up), now());
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
    return catch_up_if_behind(round_.patience());
  }
  if (in() == stage::fetching) {
    // The state keeper lays means on the state; it says when that is over.
    history().holds(own().step, own().state);
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

// ---- cells ------------------------------------------------------------------

void step_machine::on(const gathering_over& x) {
  if (x.step == own().step && averaging().gathered() && in() == stage::frozen
      && work().at_rest() && !round_.told())
    report_frozen();
}

// ---- the others -------------------------------------------------------------

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
  history().heard(r.id, now());
  heard_signed(r);
  // Nobody is led, or asked for a state, by what a contributor says: a sponsor
  // hears of hundreds.
  const auto matters
      = !trains()
        || (in() == stage::fetching && history().has_a_say(own(), r.id, now()));
  if (!r.contributes && matters && r.role == role::trainer
      && r.phase != phase::joining)
    out(x);
  if (!r.contributes && in() == stage::averaging)
    for (auto& question :
         round_.hear(r, others().known(), averaging().one_history(), now()))
      out(std::move(question));
  if (!r.contributes && trains()) {
    catch_up_if_behind(round_.patience());
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

// ---- histories --------------------------------------------------------------

void step_machine::on(const roots_known& x) {
  know_roots(x);
  catch_up_if_behind(round_.patience());
}

void step_machine::on(const state_fetched& x) {
  if (in() == stage::fetching)
    begin_with(fetched(x));
}

void step_machine::begin_with(bool taken) {
  if (taken)
    begin_step();
  if (end_is_settled())
    begin_step();
}

void step_machine::on(const state_fetch_failed& x) {
  out(fault_news("state download failed", x.reason));
  if (in() != stage::fetching || goes_back())
    return;
  const auto outcome = fetch_failed(x);
  if (outcome == catching_up::outcome::partly)
    return begin_with(takes_over_part());
  if (outcome == catching_up::outcome::uncounted)
    add(work().drop());
  enter(own().state.empty()     ? cause::none_held
        : others().end().made() ? cause::last_kept
                                : cause::not_fetched);
}

// ---- telling ----------------------------------------------------------------

void step_machine::on(const time_passed&) {
  if (auto postponed = me().postponed())
    on(*postponed);
  if (in() == stage::averaging)
    who_rests().look(); // While nothing waits for it.
  go_back_if_told();
  if (end_is_settled())
    begin_step();
  look_at_roots();
  catch_up_if_behind(round_.patience());
  pump();
  lead_if_due();
  end_if_done();
  give_up_if_too_late();
  if (auto pace = work().pace().look(now()))
    out(*pace);
  add(others().look(now()));
  show_status();
  out(look_later{
      work().pace().next_look(own().contributes, how().self, now())});
}

} // namespace potluck
