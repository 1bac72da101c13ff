#include "runtime/step/leading.hpp"

#include <algorithm>

#include "runtime/config.hpp"
#include "runtime/history/signed_steps.hpp"

namespace potluck {

namespace {

/// Nobody else's samples are in the step, nor is its state anybody else's.
bool is_alone(const way& how, const outlook& at, const way::reports& partners) {
  return how.one_history() && partners.empty()
         && how.reported(at).contributors == 0;
}

} // namespace

std::size_t leading::averaging(const way::reports& partners) const {
  return static_cast<std::size_t>(
      std::count_if(partners.begin(), partners.end(), [this](const auto& x) {
        return x.phase == phase::averaging && !order_.is_passed_over(x.id);
      }));
}

bool leading::most_average(const way& how, const outlook& at,
                           const way::reports& partners) const {
  const auto averaging_here = averaging(partners);
  auto busy = averaging_here;
  std::size_t makers = 0, busy_makers = 0;
  if (how.one_history()) {
    busy = 0;
    for (const auto& [id, x] : at.others.reports()) {
      if (x.role != role::trainer || x.step != at.own.step
          || x.state != at.own.state || x.contributes)
        continue;
      const bool averages
          = x.phase == phase::averaging && !order_.is_passed_over(id);
      busy += averages;
      makers += !x.step_proof.empty();
      busy_makers += averages && !x.step_proof.empty();
    }
  }
  // What most of those average that made the step is the next one for whoever
  // has just come, however many have come with it.
  const bool has_come = made_.empty() || made_ != at.own.state;
  return busy >= partners.size() - averaging_here + 1
         || (has_come && 2 * busy_makers > makers);
}

void leading::begin_step() {
  entering_.rest();
  order_.begin_step();
  due_since_.reset();
  not_before_ = time_point::min();
  dissolved_ = 0;
  shunned_since_.reset();
  others_average_since_.reset();
}

void leading::made(const digest& state, const group_contract& x,
                   const std::vector<std::uint8_t>& left_out) {
  made_ = state;
  makers_.clear();
  for (const auto& maker : makers_of(x, left_out))
    makers_.insert(maker.id);
  led_by_ = x.members.empty() ? peer_id{} : x.members.front().who.id;
}

bool leading::look(const way& how, const outlook& at, bool due,
                   duration patience) {
  if (!how.one_history())
    return false; // Their groups are drawn by lot.
  const auto before = order_;
  const bool knows = !made_.empty() && made_ == at.own.state;
  auto makers = knows ? makers_ : std::set<peer_id>{};
  // Whoever says that it has no part in the step has lost its memory, and does
  // not know whose turn it is.
  auto hear = [&](const progress_report& x) {
    if (x.step_proof.empty() || slow_.has(x.id, at.now))
      makers.erase(x.id);
    else if (!knows)
      makers.insert(x.id);
  };
  std::vector<peer_id> ready{at.own.id};
  hear(at.own);
  for (const auto* x : at.others.tracker().averaging(at.now))
    if (x->step == at.own.step && x->state == at.own.state
        && x->phase != phase::finished) {
      ready.push_back(x->id);
      hear(*x);
    }
  order_.made_by(makers,
                 knows && makers.count(led_by_) != 0 ? led_by_ : peer_id{});
  auto first = at.own.id;
  auto compare = [&](const peer_id& id) {
    if (order_.before(id, first))
      first = id;
  };
  for (const auto& id : ready)
    compare(id);
  // The others are about to be where this peer is.
  for (const auto& id : makers)
    if (const auto* x = at.others.report(id);
        x && !x->contributes && x->step < at.own.step)
      compare(id);
  using followed = leader_order::followed;
  order_.follow(!knows || makers.empty() || missed(patience, at.now) > 0
                    ? followed::all
                : due ? followed::makers
                      : followed::first,
                first);
  return !(order_ == before);
}

std::size_t leading::missed(duration patience, time_point now) const {
  return due_since_ ? static_cast<std::size_t>(
             (now - *due_since_) / (limits::leaders_turn * patience))
                    : 0;
}

void leading::dissolved(time_point now) {
  auto wait = pause * (1u << std::min(dissolved_, 10u));
  not_before_ = now + std::min<duration>(wait, pause_cap);
  ++dissolved_;
}

bool leading::overdue(time_point now, duration since) const {
  if (!due_since_ || entering_.puts_off())
    return false;
  const auto waited = now - *due_since_;
  const std::chrono::duration<double> computing = since - waited;
  return waited >= limits::overdue_floor
         && waited >= limits::overdue_part * computing;
}

bool leading::leads(way& how, const outlook& at, const way::reports& partners,
                    bool doubted, duration step, duration patience) {
  entering_.stop(at.now); // Unless that is all that keeps this peer back.
  if (!due_since_ || most_average(how, at, partners))
    due_since_ = at.now;
  if (at.now < not_before_)
    return false;
  // The one that is to lead may wait in turn, for somebody whom we avoid.
  if (how.others_lead(at, partners, order_, missed(patience, at.now),
                      at.now - *due_since_))
    return false;
  // Others that doubt us lead without us. Those that do not, wait for us: after
  // a while it is worth asking.
  if (doubted) {
    if (!shunned_since_)
      shunned_since_ = at.now;
    if (at.now - *shunned_since_ < patience)
      return false;
  }
  auto awaited = [&](const peer_id& who) { return how.awaits(at, who); };
  return !at.others.deserted(at.now) && !at.others.expects(awaited, at.now)
         && !(how.one_history() && others_average(how, at, partners, patience))
         && !entering_.put_off(at, is_alone(how, at, partners), step, patience);
}

bool leading::others_average(const way& how, const outlook& at,
                             const way::reports& partners, duration patience) {
  const bool most = most_average(how, at, partners);
  if (!most && averaging(partners) == 0) {
    others_average_since_.reset();
    return false;
  }
  // While somebody else was to lead nobody looked.
  if (!others_average_since_
      || at.now - others_looked_at_ > duration{limits::round_floor})
    others_average_since_ = at.now;
  others_looked_at_ = at.now;
  // How long most may be stuck they know, for they have seen slower rounds.
  const auto wait = most ? duration{limits::round_cap} : patience;
  return at.now - *others_average_since_ < wait;
}

} // namespace potluck
