#include "runtime/state/state_donor.hpp"

#include <algorithm>

#include "runtime/fault_points.hpp"
#include "runtime/state/limits.hpp"

namespace potluck {

state_donor::state_donor(bounds most)
    : most_(most), budget_(most.serving), journal_(most.journal) {
}

// ---- what this peer holds ---------------------------------------------------

state_actions state_donor::holds(std::uint64_t step, const digest& state,
                                 time_point now) {
  step_ = step;
  state_ = state;
  journal_.back_to(step, state);
  while (!coming_.empty() && coming_.begin()->first < step)
    forget_coming(coming_.begin());
  answer_waiting(now);
  return done(now);
}

state_actions state_donor::passed(passed_mean mean, time_point now) {
  journal_.add(std::move(mean));
  for (auto& [id, x] : joiners_)
    tell_means(id, x);
  return done(now);
}

state_actions state_donor::copied(std::shared_ptr<const training_state> state,
                                  time_point now) {
  auto step = state->step;
  if (awaited(step) && !version(step) && versions_.size() < most_.snapshots) {
    auto bytes = state_bytes(*state);
    versions_.emplace_back(std::move(state), piece_bytes_for(bytes));
  }
  answer_waiting(now);
  return done(now);
}

// ---- what this peer fetches -------------------------------------------------

state_actions state_donor::expects(coming_mean mean, time_point now) {
  auto step = mean.manifest.step;
  if (auto known = coming_.find(step); known != coming_.end())
    forget_coming(known); // It believes another list now.
  coming x;
  if (auto last = coming_.find(step - 1); last != coming_.end())
    x.before = last->second.mean.manifest.state;
  else if (step == step_ + 1)
    x.before = state_;
  x.here.resize(mean.manifest.pieces.size());
  x.mean = std::move(mean);
  coming_.emplace(step, std::move(x));
  for (auto& [id, joiner] : joiners_)
    tell_means(id, joiner);
  return done(now);
}

state_actions state_donor::placed(const coming_piece& x, time_point now) {
  auto found = coming_.find(x.step);
  if (found == coming_.end() || x.piece >= found->second.here.size())
    return {};
  auto& coming = found->second;
  coming.here[x.piece] = true;
  auto wanted = coming.wanted.extract(x.piece);
  if (wanted.empty())
    return {};
  auto bytes = extent_of(coming.mean.manifest, x.piece).size;
  for (auto& [id, request] : wanted.mapped())
    queue(id, request, bytes, now);
  return done(now);
}

state_actions state_donor::expects_no_more(time_point now) {
  for (auto i = coming_.upper_bound(step_); i != coming_.end();)
    forget_coming(i++);
  return done(now);
}

void state_donor::forget_coming(
    std::map<std::uint64_t, coming>::iterator which) {
  for (auto& [piece, askers] : which->second.wanted)
    for (auto& [id, x] : askers)
      actions_.push_back(
          state_letter{id, state_piece{x.state, x.piece, x.mean}, {}});
  coming_.erase(which);
}

state_donor::coming* state_donor::leading_to(const digest& state) {
  for (auto& [step, x] : coming_)
    if (x.mean.manifest.state == state)
      return &x;
  return nullptr;
}

void state_donor::answer_waiting(time_point now) {
  std::vector<peer_id> strangers;
  for (auto& id : std::set<peer_id>{unanswered_})
    if (auto x = joiners_.find(id);
        x != joiners_.end() && !answer(id, x->second, now))
      strangers.push_back(id);
  for (auto& id : strangers)
    give_up(id);
}

const state_snapshot* state_donor::version(std::uint64_t step) const {
  for (auto& x : versions_)
    if (x.state().step == step)
      return &x;
  return nullptr;
}

bool state_donor::awaited(std::uint64_t step) const {
  return std::any_of(unanswered_.begin(), unanswered_.end(), [&](auto& id) {
    return joiners_.at(id).wish.step == step;
  });
}

// ---- what joiners say -------------------------------------------------------

state_actions state_donor::read(const peer_id& from, const state_request& x,
                                time_point now) {
  auto known = joiners_.find(from);
  if (known != joiners_.end() && known->second.wish.token == x.token) {
    budget_.admit(from, now);
    return done(now);
  }
  if (known != joiners_.end()) {
    // It keeps the place that it has had for so long, but no other kind's.
    const auto& before = known->second.wish;
    const bool same_kind = before.means_only == x.means_only
                           && before.lists_only == x.lists_only;
    if (same_kind)
      budget_.begins_anew(from);
    else
      budget_.forget(from);
    forget_wish(from);
  }
  joiner asker;
  asker.wish = x;
  asker.means_told = x.step;
  // Who is declined a mean must not keep others from theirs: it would wait for
  // another donor, where somebody who waits for this one may have the place.
  const bool far = !x.means_only && x.step > step_ + limits::steps_ahead;
  if (state_.empty() || (x.means_only && !has_means_for(x)) || far) {
    budget_.forget(from);
    decline(from, asker);
  } else if (strikes(fault_point::donor_busy) || !admit(from, x, now)) {
    say_busy(from, x);
  } else {
    auto& entry = joiners_[from] = asker;
    unanswered_.insert(from);
    wishes_.insert(x.step);
    if (answer(from, entry, now))
      tell_means(from, entry);
    else
      give_up(from);
  }
  return done(now);
}

/// Places rotate: one that brings nothing is somebody else's, and no home has
/// all of them.
bool state_donor::admit(const peer_id& from, const state_request& x,
                        time_point now) {
  if (x.lists_only)
    return budget_.listens(from, now);
  const auto places = places_for(x);
  if (budget_.admit(from, now, places, !x.means_only))
    return true;
  const auto other = budget_.gives_way(from, now);
  if (!other)
    return false;
  if (const auto known = joiners_.find(*other); known != joiners_.end())
    say_busy(*other, known->second.wish);
  give_up(*other);
  return budget_.admit(from, now, places, !x.means_only);
}

void state_donor::say_busy(const peer_id& to, const state_request& x) {
  state_manifest busy;
  busy.token = x.token;
  busy.step = step_;
  busy.retry_ms = static_cast<std::uint32_t>(
      std::chrono::milliseconds{limits::busy_retry}.count());
  actions_.push_back(state_letter{to, busy, {}});
}

/// Contributors all miss the same small mean at the same time.
std::size_t state_donor::places_for(const state_request& x) const {
  auto mean = x.means_only ? journal_.completing(x.step + 1) : nullptr;
  if (!mean || mean->values->empty())
    return 0;
  auto bytes = mean->values->size() * sizeof(float);
  return std::min<std::size_t>(limits::contributors_served,
                               limits::joiner_bytes_in_flight / bytes);
}

/// Sends the version's manifest, or that it will not come, or that there is no
/// room for it, or waits for it.
/// @returns false when nothing here is of use to it: then it must not take the
/// place of one that can be served.
bool state_donor::answer(const peer_id& id, const joiner& x, time_point now) {
  const auto& wish = x.wish;
  if (wish.means_only) {
    if (has_means_for(wish))
      unanswered_.erase(id); // The means are the answer.
    else
      decline(id, x);
    return true;
  }
  if (auto held = version(wish.step)) {
    if (!wish.state.empty() && wish.state != held->digest()) {
      decline(id, x);
      return false;
    }
    unanswered_.erase(id);
    actions_.push_back(state_letter{id, held->manifest(wish.token), {}});
    return true;
  }
  const bool strange
      = wish.step == step_ && !wish.state.empty() && wish.state != state_;
  const bool old = wish.step < step_;
  if (!old && !strange) {
    if (has_room_for(wish, now))
      return true;
    say_busy(id, wish);
    return false;
  }
  decline(id, x);
  // Others may have its version, and the means behind that are here.
  const auto next = old ? journal_.completing(wish.step + 1) : nullptr;
  return next != nullptr && (wish.state.empty() || next->before == wish.state);
}

/// Whether the state after that step can be kept when it is here. Those that
/// wait for a later one do not keep others from it, nor do those that only
/// listen. For one with a place a version gives way whose joiners listen, or
/// got nothing for long.
bool state_donor::has_room_for(const state_request& wish, time_point now) {
  const auto step = wish.step;
  std::set<std::uint64_t> before;
  for (const auto& id : unanswered_)
    if (const auto& y = joiners_.at(id).wish;
        !y.means_only && !y.lists_only && y.step < step)
      before.insert(y.step);
  for (const auto& v : versions_)
    before.insert(v.state().step);
  before.erase(step);
  if (before.size() < most_.snapshots || wish.lists_only)
    return before.size() < most_.snapshots;
  for (const auto& v : versions_) {
    std::vector<peer_id> its;
    for (const auto& [id, y] : joiners_)
      if (!y.wish.means_only && y.wish.step == v.state().step)
        its.push_back(id);
    const auto lingers
        = [&](const peer_id& id) { return budget_.lingers(id, now); };
    if (v.state().step == step || !std::all_of(its.begin(), its.end(), lingers))
      continue;
    for (const auto& id : its) {
      say_busy(id, joiners_.at(id).wish);
      give_up(id);
    }
    tidy();
    return true;
  }
  return false;
}

void state_donor::decline(const peer_id& id, const joiner& x) {
  unanswered_.erase(id);
  state_manifest none;
  none.token = x.wish.token;
  none.step = step_;
  if (x.wish.state.empty() && kept_)
    none.state = kept_(x.wish.step);
  if (!versions_.empty())
    none.offered = versions_.back().state().step;
  for (auto& other : unanswered_)
    if (auto& y = joiners_.at(other); !y.wish.means_only && !y.wish.lists_only)
      none.offered = std::max(none.offered, y.wish.step);
  actions_.push_back(state_letter{id, none, {}});
}

/// Whether the means behind what the joiner holds are here, or come.
bool state_donor::has_means_for(const state_request& x) const {
  auto next = journal_.completing(x.step + 1);
  auto coming = coming_.find(x.step + 1);
  return (next && next->before == x.state)
         || (coming != coming_.end() && coming->second.before == x.state)
         || (x.step == step_ && x.state == state_);
}

void state_donor::tell_means(const peer_id& id, joiner& x) {
  const auto& wish = x.wish;
  auto first = journal_.completing(wish.step + 1);
  if (first && !wish.state.empty() && first->before != wish.state)
    return; // Another history.
  // What the journal no longer has, others may have.
  for (auto step = std::max(x.means_told + 1, journal_.oldest());
       journal_.completing(step); ++step) {
    auto manifest = journal_.manifest(step);
    manifest.token = wish.token;
    actions_.push_back(state_letter{id, std::move(manifest), {}});
    x.means_told = step;
  }
  if (!wish.means_only)
    return;
  for (auto i = coming_.find(x.means_told + 1);
       i != coming_.end() && i->first == x.means_told + 1; ++i) {
    if (i->first == wish.step + 1 && i->second.before != wish.state)
      return; // Another history.
    auto manifest = i->second.mean.manifest;
    manifest.token = wish.token;
    actions_.push_back(state_letter{id, std::move(manifest), {}});
    x.means_told = i->first;
  }
}

state_actions state_donor::read(const peer_id& from, const piece_request& x,
                                time_point now) {
  auto bytes = piece(x);
  if (bytes.size != 0) {
    queue(from, x, bytes.size, now);
    return done(now);
  }
  if (!budget_.serves(from))
    return {};
  auto coming = x.mean ? leading_to(x.state) : nullptr;
  if (coming && x.piece < coming->here.size())
    coming->wanted[x.piece][from] = x;
  else
    actions_.push_back(
        state_letter{from, state_piece{x.state, x.piece, x.mean}, {}});
  return done(now);
}

void state_donor::queue(const peer_id& from, const piece_request& x,
                        std::size_t bytes, time_point now) {
  // A stranger is one that was given up.
  if (budget_.ask(from, x, bytes, now) != serving_budget::verdict::queued)
    actions_.push_back(
        state_letter{from, state_piece{x.state, x.piece, x.mean}, {}});
}

shared_bytes state_donor::piece(const piece_request& x) const {
  if (x.mean) {
    if (auto mean = journal_.leading_to(x.state))
      return piece_of(*mean, x.piece);
    for (auto& [step, coming] : coming_)
      if (coming.mean.manifest.state == x.state && x.piece < coming.here.size()
          && coming.here[x.piece])
        return piece_of({step, 0, 0, {}, {}, coming.mean.values}, x.piece);
    return {};
  }
  for (auto& v : versions_)
    if (v.digest() == x.state)
      return v.piece(x.piece);
  return {};
}

state_actions state_donor::read(const peer_id& from, const state_done&,
                                time_point now) {
  return lost(from, now);
}

state_actions state_donor::lost(const peer_id& id, time_point now) {
  give_up(id);
  return done(now);
}

void state_donor::give_up(const peer_id& id) {
  budget_.forget(id);
  forget_wish(id);
}

void state_donor::forget_wish(const peer_id& id) {
  unanswered_.erase(id);
  if (auto known = joiners_.find(id); known != joiners_.end()) {
    wishes_.erase(wishes_.find(known->second.wish.step));
    joiners_.erase(known);
  }
  for (auto& [step, x] : coming_)
    for (auto& [piece, askers] : x.wanted)
      askers.erase(id);
}

state_actions state_donor::look(time_point now) {
  return done(now);
}

state_actions state_donor::done(time_point now) {
  for (auto& id : budget_.expire(now))
    give_up(id);
  while (auto turn = budget_.next(now)) {
    auto& x = turn->request;
    actions_.push_back(state_letter{
        turn->joiner, state_piece{x.state, x.piece, x.mean},
        strikes(fault_point::piece_gone) ? shared_bytes{} : piece(x)});
  }
  tidy();
  if (!state_.empty() && awaited(step_))
    actions_.push_back(copy_state{});
  auto wake = budget_.wake();
  if (budget_.joiners() > 0)
    wake = std::min(wake.value_or(time_point::max()),
                    now + limits::fetch_interval);
  if (wake)
    actions_.push_back(look_again{*wake});
  return std::exchange(actions_, {});
}

/// Keeps only what somebody fetches.
void state_donor::tidy() {
  if (joiners_.empty())
    coming_.erase(coming_.begin(), coming_.upper_bound(step_));
  if (wishes_.empty())
    journal_.keep_after(std::nullopt);
  else
    journal_.keep_after(*wishes_.begin());
  versions_.erase(
      std::remove_if(versions_.begin(), versions_.end(),
                     [&](auto& v) {
                       return std::none_of(
                           joiners_.begin(), joiners_.end(), [&](auto& x) {
                             return !x.second.wish.means_only
                                    && x.second.wish.step == v.state().step;
                           });
                     }),
      versions_.end());
}

} // namespace potluck
