#include "runtime/history/own_history.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace potluck {

void own_history::adopts(std::uint64_t step, const digest& state,
                         bool vouched_for, std::vector<peer_id> from) {
  from_ = std::move(from);
  digests_.restart(step, state);
  vouched_for_ = vouched_for;
  has_adopted_ = true;
  on_this_ = 0;
}

void own_history::learn(electorates::weights makers, time_point now) {
  electors_.learn(std::move(makers));
  learnt_at_ = now;
}

void own_history::made(const group_contract& x,
                       const std::vector<std::uint8_t>& left_out,
                       time_point now) {
  parted_.clear();
  most_missing_since_.reset();
  for (auto i = seen_.begin(); i != seen_.end();)
    i = now - i->second < limits::estrangement ? std::next(i) : seen_.erase(i);
  if (!electors_.made(x, left_out))
    return;
  if (steps_++ == 0)
    first_ = now;
  heard_ = now;
  if (++on_this_ >= limits::binding_steps)
    vouched_for_ = true;
}

stance own_history::of(const progress_report& x,
                       const progress_report& own) const {
  if (x.step > own.step)
    return stance::ahead;
  if (x.step == own.step)
    return x.state == own.state ? stance::ours : stance::aside;
  if (const auto* known = digests_.after(x.step))
    return x.state == *known ? stance::ours : stance::aside;
  return own.step - x.step > limits::most_behind ? stance::aside : stance::ours;
}

own_history::choice own_history::better(const progress_report& own,
                                        const reports& others,
                                        const reports& doubted,
                                        time_point now) {
  std::vector<ballot> all;
  bool differ = false;
  for (const auto* x : others) {
    heard(x->id, now);
    if (!settles_ && (steps_ == 0 || now - first_ < limits::beginning)
        && founders_.size() < limits::most_founders)
      founders_.insert(x->id);
    if (!counts(x->id, now))
      continue;
    if (learnt_at_ && x->history_samples > 0 && electors_.has(x->id))
      learnt_at_ = now;
    all.push_back({x, of(*x, own)});
    differ = differ || all.back().where != stance::ours;
  }
  if (!differ) // Most of the time.
    return {};
  auto result = bound(own, now) ? outvoted_by(all, own, doubted, now)
                                : most_of(all, own, others);
  if (!result.donors.empty() || redrawn_ || own.contributes
      || now < next_step_after_)
    return result;
  return {extended(all, own, electors_), false, true};
}

own_history::choice own_history::outvoted_by(std::vector<ballot> all,
                                             const progress_report& own,
                                             const reports& doubted,
                                             time_point now) const {
  const auto may_be_back = [&](const peer_id& id) {
    const auto seen = seen_.find(id);
    return seen != seen_.end() && now - seen->second < limits::estrangement;
  };
  // A doubted peer is here. Were it counted as one that is away, it would speak
  // for what is held, whatever it says itself.
  const auto votes = [&](const peer_id& id) {
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& x) { return x.report->id == id; });
  };
  if (!redrawn_)
    for (const auto* x : doubted)
      if (!votes(x->id))
        all.push_back({x, of(*x, own)});
  auto donors = outvoted(all, own, electors_, redrawn_, may_be_back);
  const auto is_doubted = [&](const progress_report& x) {
    return std::any_of(doubted.begin(), doubted.end(),
                       [&](const auto* y) { return y->id == x.id; });
  };
  donors.erase(std::remove_if(donors.begin(), donors.end(), is_doubted),
               donors.end());
  return {std::move(donors), true};
}

own_history::choice own_history::most_of(const std::vector<ballot>& all,
                                         const progress_report& own,
                                         const reports& others) const {
  // One peer alone never has another give up what it made with others.
  const std::size_t least = has_company() && !own.contributes ? 2 : 1;
  const auto resumed = own.role == role::trainer && !own.contributes
                       && electors_.empty() && !has_adopted_;
  auto donors = outnumbered(all, own, least, resumed);
  if (donors.empty() && has_adopted_ && on_this_ == 0) {
    // Others came with this peer. Those from which it has its state may have
    // gone on: that is the same history.
    std::vector<ballot> had_it;
    std::copy_if(all.begin(), all.end(), std::back_inserter(had_it),
                 [this](const ballot& x) {
                   return std::count(from_.begin(), from_.end(), x.report->id);
                 });
    donors = outnumbered(had_it, own, least, false);
  }
  const auto has_sponsor
      = std::any_of(donors.begin(), donors.end(), [&](auto& x) {
          return own.contributes && x.id == own.sponsor;
        });
  const auto vouched_for
      = has_sponsor
        || (!donors.empty() && is_held_by_most(donors.front(), others));
  return {std::move(donors), vouched_for};
}

bool own_history::is_foreign(const progress_report& own,
                             const progress_report& x, time_point now) const {
  return x.phase != phase::joining && of(x, own) != stance::ours
         && (own.role != role::trainer || !has_a_say(own, x.id, now));
}

bool own_history::is_held_by_most(const progress_report& own,
                                  const reports& others) const {
  std::size_t same = 0;
  std::size_t all = 0;
  bool known = electors_.empty();
  for (const auto* x : others) {
    all += x->history_samples > 0;
    if (x->step != own.step || x->state != own.state)
      continue;
    ++same;
    known = known || electors_.has(x->id);
  }
  return known && same >= limits::least_supporters && 2 * same > all;
}

bool own_history::waits(const electorates::condition& is_here, time_point now) {
  if (redrawn_ || steps_ == 0)
    return false;
  std::size_t here = 0;
  std::size_t all = 0;
  for (const auto& [id, weight] : electors_.newest()) {
    const auto present = id == self_ || is_here(id);
    here += present;
    all += present || parted_.count(id) == 0;
  }
  if (2 * here >= all) {
    most_missing_since_.reset();
    return false;
  }
  if (!most_missing_since_)
    most_missing_since_ = now;
  return now - *most_missing_since_ < limits::parting_patience;
}

} // namespace potluck
