/// Whom the roster dials, and what becomes of it (runtime/membership).
#include <algorithm>
#include <utility>

#include "actors/roster.hpp"
#include "runtime/ways/cells/cell_choice.hpp"
#include "runtime/config.hpp"

namespace potluck {

// ---- whom
// ------------------------------------------------------------

void roster_state::on(const links_wanted& x) {
  if (x.everybody && (!links_ || wants_few())) { // From now on it needs all.
    next_publication_ = {};
    last_look_up_ = {};
    looking_up_ = false;
    acquainted_ = false;
  }
  links_ = x;
  for (const auto* who : {&x.nearer, &x.better})
    if (!who->id.empty() && guests_.count(who->id) == 0)
      self_->send(wired_.gateway, dial_contact{*who});
  next_dialling_ = {};
  told_own_cell_.at = {};
  told_other_cells_.at = {};
  if (wired_.router)
    self_->send(wired_.router, x);
}

bool roster_state::wants(const peer_id& id) const {
  if (id.empty()) // A seed; who has a sponsor finds others through it.
    return !wants_few() || guests_.count(mine_.report.sponsor) == 0;
  auto said = ledger_->last_report(id);
  if (said && said->contributes)
    return false; // It says itself whom it needs.
  if (said && said->where.port == 0 && !said->where.host.empty())
    return false; // Nobody can dial it.
  if (links_)
    return (links_->everybody
            && (links_->newcomers || !said || said->phase != phase::joining))
           || named(id);
  // Until the charter is known, a few trainers that may know it do.
  std::size_t trainers = 0;
  std::size_t knowing = 0;
  for (auto& [other, g] : guests_) {
    trainers += g.news.role == role::trainer;
    auto heard = ledger_->last_report(other);
    knowing += heard && !heard->charter.empty();
    if (trainers >= limits::trainers_asked && knowing > 0)
      return false;
  }
  return trainers < limits::trainers_asked
         || (said && !said->charter.empty() && knowing == 0);
}

bool roster_state::named(const peer_id& id) const {
  return id == links_->nearer.id || id == links_->farther
         || id == links_->better.id
         || std::find(links_->who.begin(), links_->who.end(), id)
                != links_->who.end();
}

bool roster_state::wants_few() const {
  return mine_.report.contributes && links_ && !links_->everybody;
}

bool roster_state::has_names() const {
  return wants_few() && links_->who.size() >= cell_choice::links;
}

bool roster_state::settled_contributor() const {
  return wants_few() && cell_choice::linked(links_->who, guests_);
}

void roster_state::close_surplus() {
  if (!wants_few())
    return;
  auto now = self_->clock().now();
  // A bootstrap peer keeps its connections for those who have nobody else.
  auto settled = settled_contributor();
  for (auto& [id, g] : guests_)
    if ((g.news.role != role::bootstrap || settled)
        && now - g.since > limits::surplus_age && !named(id))
      self_->send(wired_.gateway,
                  drop_peer{id, "hands its gradients to others"});
}

void roster_state::dial_sooner(const peer_id& id) {
  // Before the charter is known, everybody's news matters to whom it wants.
  if (!links_ || wants(id))
    next_dialling_ = {};
}

void roster_state::dial_who_is_due() {
  auto now = self_->clock().now();
  const duration rest = limits::dialling_rest_a_peer
                        * static_cast<duration::rep>(ledger_->size());
  // A settled contributor needs nobody, the seeds included.
  if (now < std::max(next_dialling_, last_dialling_ + rest)
      || settled_contributor())
    return;
  last_dialling_ = now;
  auto due
      = ledger_->due_for_dial(now, limits::dials_at_once,
                              [this](const peer_id& id) { return wants(id); });
  for (auto& who : due)
    self_->send(wired_.gateway, dial_contact{who});
  if (due.size() == limits::dials_at_once)
    return; // There may be more.
  next_dialling_
      = now
        + std::max<duration>(limits::dialling_interval,
                             ledger_->size() * limits::dialling_pause_a_peer);
  if (auto next = ledger_->next_dial(now))
    next_dialling_ = std::min(next_dialling_, *next);
}

// ---- how it ends
// ------------------------------------------------------------

void roster_state::on(const dial_succeeded& x) {
  ledger_->reached(x.where, x.who, self_->clock().now());
}

void roster_state::on(const dial_failed& x) {
  last_dial_problem_ = x.reason;
  next_dialling_ = {};
  ledger_->dial_failed({x.expected, x.where}, self_->clock().now());
  // Whoever cannot be reached must not be waited for, whatever records say.
  if (!x.expected.empty() && !guests_.count(x.expected))
    tell_everybody(peer_left{x.expected, "cannot be reached", false});
}

void roster_state::on(const peer_refused& x) {
  auto seed = std::find(config_.seeds.begin(), config_.seeds.end(), x.where);
  if (x.dialled && !reached_anybody_ && !gave_up_
      && seed != config_.seeds.end()) {
    // A stranger's opinion ends nothing, but whom the user named decides; and
    // when all of them refuse, or we them, there is nobody left to try.
    refusals_[x.where] = x.sentence;
    if (refusals_.size() == config_.seeds.size()) {
      gave_up_ = true;
      self_->send(wired_.observer, peer_over{x.sentence, true});
      return;
    }
  }
  self_->send(
      wired_.observer,
      event{"fault",
            {{"peer", to_string(x.where)},
             {"what", std::string{x.dialled ? "refused us" : "refused by us"}},
             {"detail", x.sentence}}});
}

void roster_state::check_first_contact() {
  auto waited = self_->clock().now() - began_;
  if (reached_anybody_ || gave_up_ || config_.seeds.empty()
      || waited < limits::first_contact_patience)
    return;
  if (!refusals_.empty()) {
    gave_up_ = true;
    self_->send(wired_.observer, peer_over{refusals_.begin()->second, true});
    return;
  }
  gave_up_ = ledger_->most_failed_seed_dials() >= limits::first_contact_dials
             || waited >= limits::longest_first_contact;
  if (!gave_up_ && std::exchange(warned_, true))
    return;
  std::string names;
  for (auto& seed : config_.seeds)
    names += (names.empty() ? "" : ", ") + to_string(seed);
  auto nobody = "Nobody answers at " + names + " ("
                + (last_dial_problem_.empty() ? "no answer in time"
                                              : last_dial_problem_)
                + "); ";
  if (gave_up_)
    self_->send(wired_.observer,
                peer_over{nobody
                              + "start `potluck bootstrap` there, or correct "
                                "--peer.",
                          true});
  else
    self_->send(wired_.observer, event{"fault",
                                       {{"what", "no contact yet"},
                                        {"detail", nobody + "trying again"}}});
}

} // namespace potluck
