#include "runtime/state/state_donor.hpp"

#include <algorithm>

#include "runtime/fault_points.hpp"
#include "runtime/state/limits.hpp"

namespace potluck {

state_donor::state_donor(bounds most)
    : budget_(most.serving), journal_(most.journal), versions_(most.snapshots) {
}

// ---- what this peer holds ---------------------------------------------------

state_actions state_donor::holds(std::uint64_t step, const digest& state,
                                 time_point now) {
  if (step < step_)
    budget_.back_to(step);
  step_ = step;
  state_ = state;
  journal_.back_to(step, state);
  say_gone(coming_.forget_before(step));
  answer_waiting(now);
  return done(now);
}

state_actions state_donor::passed(passed_mean mean, time_point now) {
  journal_.add(std::move(mean));
  for (auto& [id, x] : joiners_.all())
    tell_means(id, x);
  return done(now);
}

state_actions state_donor::copied(std::shared_ptr<const training_state> state,
                                  time_point now) {
  if (joiners_.awaited(state->step))
    versions_.add(std::move(state));
  answer_waiting(now);
  return done(now);
}

// ---- what this peer fetches -------------------------------------------------

state_actions state_donor::expects(coming_mean mean, time_point now) {
  say_gone(coming_.expects(std::move(mean), step_, state_));
  for (auto& [id, x] : joiners_.all())
    tell_means(id, x);
  return done(now);
}

state_actions state_donor::placed(const coming_piece& x, time_point now) {
  const auto arrival = coming_.placed(x);
  if (!arrival)
    return {};
  for (auto& [id, request] : arrival->wanted)
    queue(id, request, arrival->bytes, now);
  return done(now);
}

state_actions state_donor::expects_no_more(time_point now) {
  say_gone(coming_.forget_behind(step_));
  return done(now);
}

void state_donor::say_gone(const coming_means::early_requests& xs) {
  for (auto& [id, request] : xs)
    say_gone(id, request);
}

void state_donor::say_gone(const peer_id& to, const piece_request& x) {
  actions_.push_back(
      state_letter{to, state_piece{x.state, x.piece, x.mean}, {}});
}

void state_donor::answer_waiting(time_point now) {
  std::vector<peer_id> strangers;
  for (auto& id : std::set<peer_id>{joiners_.unanswered()})
    if (const auto* x = joiners_.find(id); x && !answer(id, x->wish, now))
      strangers.push_back(id);
  for (auto& id : strangers)
    give_up(id);
}

// ---- what joiners say -------------------------------------------------------

state_actions state_donor::read(const peer_id& from, const state_request& x,
                                time_point now) {
  const auto* known = joiners_.find(from);
  if (known && known->wish.token == x.token) {
    budget_.admit(from, now);
    return done(now);
  }
  if (known) {
    // It keeps the place that it has had for so long, but no other kind's.
    const auto& before = known->wish;
    const bool same_kind = before.means_only == x.means_only
                           && before.lists_only == x.lists_only;
    if (same_kind)
      budget_.begins_anew(from);
    else
      budget_.forget(from);
    forget_wish(from);
  }
  // Who is declined a mean must not keep others from theirs: it would wait for
  // another donor, where somebody who waits for this one may have the place.
  const bool far = !x.means_only && x.step > step_ + limits::steps_ahead;
  if (state_.empty() || (x.means_only && !has_means_for(x)) || far) {
    budget_.forget(from);
    decline(from, x);
  } else if (strikes(fault_point::donor_busy) || !admit(from, x, now)) {
    say_busy(from, x);
  } else {
    const auto& entry = joiners_.add(from, x);
    if (answer(from, x, now))
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
  if (budget_.admit(from, now, places))
    return true;
  const auto other = budget_.gives_way(from, now);
  if (!other)
    return false;
  if (const auto* known = joiners_.find(*other))
    say_busy(*other, known->wish);
  give_up(*other);
  return budget_.admit(from, now, places);
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
bool state_donor::answer(const peer_id& id, const state_request& wish,
                         time_point now) {
  if (wish.means_only) {
    if (has_means_for(wish))
      joiners_.answered(id); // The means are the answer.
    else
      decline(id, wish);
    return true;
  }
  if (auto held = versions_.after(wish.step)) {
    if (!wish.state.empty() && wish.state != held->digest()) {
      decline(id, wish);
      return false;
    }
    joiners_.answered(id);
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
  decline(id, wish);
  // Others may have its version, and the means behind that are here.
  const auto next = old ? journal_.completing(wish.step + 1) : nullptr;
  return next != nullptr && (wish.state.empty() || next->before == wish.state);
}

/// Whether the state after that step can be kept when it is here. Those that
/// wait for a later one do not keep others from it, nor do those that only
/// listen. For one with a place a version gives way whose joiners listen, or
/// got nothing for long.
bool state_donor::has_room_for(const state_request& wish, time_point now) {
  const bool has_room
      = versions_.has_room_for(wish.step, joiners_.awaited_before(wish.step));
  if (has_room || wish.lists_only)
    return has_room;
  const auto lingers
      = [&](const peer_id& id) { return budget_.lingers(id, now); };
  for (const auto step : versions_.steps()) {
    const auto its = joiners_.fetching(step);
    if (step == wish.step || !std::all_of(its.begin(), its.end(), lingers))
      continue;
    for (const auto& id : its) {
      say_busy(id, joiners_.find(id)->wish);
      give_up(id);
    }
    tidy();
    return true;
  }
  return false;
}

void state_donor::decline(const peer_id& id, const state_request& wish) {
  joiners_.answered(id);
  state_manifest none;
  none.token = wish.token;
  none.step = step_;
  if (wish.state.empty() && kept_)
    none.state = kept_(wish.step);
  const auto kept = versions_.steps();
  none.offered
      = std::max(kept.empty() ? 0 : kept.back(), joiners_.latest_awaited());
  actions_.push_back(state_letter{id, none, {}});
}

/// Whether the means behind what the joiner holds are here, or come.
bool state_donor::has_means_for(const state_request& x) const {
  auto next = journal_.completing(x.step + 1);
  return (next && next->before == x.state) || coming_.follows(x.step, x.state)
         || (x.step == step_ && x.state == state_);
}

void state_donor::tell_means(const peer_id& id, const joiner& x) {
  const auto& wish = x.wish;
  auto first = journal_.completing(wish.step + 1);
  if (first && !wish.state.empty() && first->before != wish.state)
    return; // Another history.
  const auto tell = [&](state_manifest mean) {
    mean.token = wish.token;
    joiners_.told(id, mean.step);
    if (wish.means_only)
      budget_.grant(id, mean.step, mean.bytes);
    actions_.push_back(state_letter{id, std::move(mean), {}});
  };
  // What the journal no longer has, others may have.
  for (auto step = std::max(x.means_told + 1, journal_.oldest());
       journal_.completing(step); ++step)
    tell(journal_.manifest(step));
  if (!wish.means_only)
    return;
  const bool first_comes = x.means_told == wish.step;
  if (first_comes && !coming_.follows(wish.step, wish.state))
    return; // Another history.
  for (auto step = x.means_told + 1; auto mean = coming_.manifest(step); ++step)
    tell(*mean);
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
  if (!x.mean || !coming_.wait(from, x))
    say_gone(from, x);
  return done(now);
}

void state_donor::queue(const peer_id& from, const piece_request& x,
                        std::size_t bytes, time_point now) {
  if (!budget_.ask(from, x, bytes, now))
    say_gone(from, x);
}

shared_bytes state_donor::piece(const piece_request& x) const {
  if (!x.mean)
    return versions_.piece(x.state, x.piece);
  if (auto mean = journal_.leading_to(x.state))
    return piece_of(*mean, x.piece);
  return coming_.piece(x.state, x.piece);
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
  joiners_.forget(id);
  coming_.leave(id);
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
  if (!state_.empty() && joiners_.awaited(step_))
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
  if (joiners_.all().empty())
    coming_.forget_before(step_ + 1); // Nobody waits for a piece of these.
  journal_.keep_after(joiners_.earliest());
  for (auto step : versions_.steps())
    if (!joiners_.is_fetched(step))
      versions_.drop(step);
}

} // namespace potluck
