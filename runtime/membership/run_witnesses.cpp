#include "runtime/membership/run_witnesses.hpp"

#include <algorithm>
#include <utility>

#include "runtime/membership/limits.hpp"

namespace potluck {

// ---- who is there -----------------------------------------------------------

run_witnesses::witness* run_witnesses::find(const peer_id& who, bool connected,
                                            time_point now) {
  auto at = all_.find(who);
  if (at == all_.end()) {
    if (who == self_ || who.empty())
      return nullptr;
    if (all_.size() >= most_others)
      forget_silent(now);
    if (all_.size() >= most_others && !connected)
      return nullptr;
    at = all_.emplace(who, witness{}).first;
    at->second.since = now;
  }
  at->second.heard_at = now;
  return &at->second;
}

bool run_witnesses::joined(const contact& who, role what, const digest& has,
                           bool is_hub, time_point now) {
  auto x = find(who.id, true, now);
  if (!x)
    return false;
  if (!x->connected) { // What was asked on another line is lost.
    ++lines_;
    x->asked = x->answered = false;
  }
  x->connected = true;
  x->role = what;
  x->is_hub = is_hub;
  x->has_none = false;
  if (!x->asked)
    x->ask_at = {};
  if (!has.empty())
    x->charter = has;
  return true;
}

void run_witnesses::left(const peer_id& who, bool orderly) {
  auto at = all_.find(who);
  if (at == all_.end())
    return;
  auto& x = at->second;
  if (x.connected)
    x.since = x.heard_at;
  lines_ -= x.connected;
  x.connected = false;
  if (std::exchange(x.asked, false))
    ask_the_next();
  // That nobody gets to it says nothing of whether it is there; and what is
  // founded stays founded.
  if (orderly && x.charter.empty())
    all_.erase(at);
}

const run_witnesses::witness* run_witnesses::heard(const progress_report& said,
                                                   time_point now) {
  if (said.role != role::trainer && said.role != role::auxiliary)
    return nullptr;
  auto x = find(said.id, false, now);
  if (!x)
    return nullptr;
  x->role = said.role;
  const auto has = x->lied ? digest{} : said.charter;
  if (x->charter != has && !has.empty())
    for (auto& [id, keeper] : all_) // By now it may have it.
      if (keeper.has_none) {
        keeper.has_none = false;
        keeper.ask_at = {};
      }
  x->charter = has;
  x->phase = said.phase;
  x->where = said.where;
  x->hubs = said.hubs;
  return x;
}

void run_witnesses::forget_silent(time_point now) {
  for (auto i = all_.begin(); i != all_.end();)
    if (!i->second.connected && now - i->second.heard_at > limits::report_life)
      i = all_.erase(i);
    else
      ++i;
}

const run_witnesses::each::value_type*
run_witnesses::before_us(bool founding, time_point now) const {
  const each::value_type* best = nullptr;
  for (const auto& one : all_) {
    const auto& [id, x] = one;
    if (!counts(x, now))
      continue;
    if (!x.charter.empty())
      return &one;
    if (x.role != role::trainer)
      continue;
    const bool first = id < self_;
    const bool before
        = x.phase == phase::founding ? !founding || first : !founding && first;
    if (before
        && (!best
            || (best->second.phase != phase::founding
                && x.phase == phase::founding)))
      best = &one;
  }
  return best;
}

// ---- the charter ------------------------------------------------------------

std::vector<peer_id> run_witnesses::ask(time_point now) {
  std::vector<peer_id> result;
  for (auto& [id, x] : all_) {
    const bool may_have = x.role == role::bootstrap || !x.charter.empty();
    if (!x.connected || !may_have || x.lied || now < x.ask_at
        || (!x.asked && now < next_asked_))
      continue;
    const bool late = std::exchange(x.asked, true);
    if (!late) {
      next_asked_ = now + hedge_;
      hedge_ = std::min(2 * hedge_, longest_hedge);
    }
    x.wait = late ? std::min(2 * x.wait, longest_patience) : patience;
    x.ask_at = now + x.wait;
    ++x.in_vain;
    result.push_back(id);
  }
  return result;
}

void run_witnesses::ask_the_next() {
  if (std::any_of(all_.begin(), all_.end(),
                  [](auto& x) { return x.second.asked; }))
    return; // Somebody else's may be on its way.
  hedge_ = hedge;
  next_asked_ = {};
}

const run_witnesses::witness* run_witnesses::answered(const peer_id& from) {
  auto at = all_.find(from);
  if (at == all_.end() || !at->second.asked)
    return nullptr;
  auto& x = at->second;
  x.asked = false;
  x.answered = true;
  x.in_vain = 0;
  return &x;
}

void run_witnesses::has_none(const peer_id& from, time_point now) {
  auto& x = all_.at(from);
  x.wait = x.has_none ? std::min(2 * x.wait, longest_again) : again;
  x.has_none = true;
  x.ask_at = now + x.wait;
  ask_the_next();
}

void run_witnesses::lied(const peer_id& from) {
  auto& x = all_.at(from);
  x.lied = true;
  x.charter = {};
  ask_the_next();
}

void run_witnesses::keeps(const peer_id& from, time_point now) {
  auto& x = all_.at(from);
  x.wait = longest_again;
  x.ask_at = now + x.wait;
  ask_the_next(); // Whose word counts at once.
}

bool run_witnesses::may_answer(time_point now) const {
  return std::any_of(all_.begin(), all_.end(), [now](const auto& one) {
    const auto& x = one.second;
    return x.connected && x.role == role::bootstrap && !x.lied && !x.answered
           && (x.in_vain == 0 || (x.in_vain == 1 && now < x.ask_at));
  });
}

} // namespace potluck
