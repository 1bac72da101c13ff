#include "runtime/step/leading.hpp"

#include <algorithm>

#include "runtime/config.hpp"

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

bool leading::most_average(const way::reports& partners) const {
  auto busy = averaging(partners);
  return busy >= partners.size() - busy + 1;
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
  if (!due_since_ || most_average(partners))
    due_since_ = at.now;
  if (at.now < not_before_)
    return false;
  // The one that is to lead may wait in turn, for somebody whom we avoid.
  auto due = at.now - *due_since_;
  auto missed
      = static_cast<std::size_t>(due / (limits::leaders_turn * patience));
  if (how.others_lead(at, partners, order_, missed, due))
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
         && !(how.one_history() && others_average(partners, patience, at.now))
         && !entering_.put_off(at, is_alone(how, at, partners), step, patience);
}

bool leading::others_average(const way::reports& partners, duration patience,
                             time_point now) {
  if (averaging(partners) == 0) {
    others_average_since_.reset();
    return false;
  }
  // While somebody else was to lead nobody looked.
  if (!others_average_since_
      || now - others_looked_at_ > duration{limits::round_floor})
    others_average_since_ = now;
  others_looked_at_ = now;
  // How long most may be stuck they know, for they have seen slower rounds.
  auto wait = most_average(partners) ? duration{limits::round_cap} : patience;
  return now - *others_average_since_ < wait;
}

} // namespace potluck
