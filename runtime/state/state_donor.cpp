#include "runtime/state/state_donor.hpp"

#include <algorithm>

#include "runtime/config.hpp"

namespace potluck {

state_donor::state_donor(bounds most)
    : most_(most), budget_(most.serving), journal_(most.journal) {
}

// ---- what this peer holds ---------------------------------------------------

void state_donor::holds(std::uint64_t step, const digest& state,
                        time_point now) {
  step_ = step;
  state_ = state;
  answer_waiting();
  look(now);
}

void state_donor::passed(passed_mean mean, time_point now) {
  journal_.add(std::move(mean));
  for (auto& [id, x] : joiners_)
    tell_means(id, x);
  look(now);
}

void state_donor::copied(std::shared_ptr<const training_state> state,
                         time_point now) {
  auto step = state->step;
  auto wanted = std::any_of(joiners_.begin(), joiners_.end(), [&](auto& x) {
    return !x.second.answered && x.second.wish.step == step;
  });
  if (wanted && !version(step)) {
    auto bytes = state_bytes(state->parameters.size());
    versions_.emplace_back(std::move(state), piece_bytes_for(bytes));
  }
  answer_waiting();
  look(now);
}

void state_donor::answer_waiting() {
  std::vector<peer_id> strangers;
  for (auto& [id, x] : joiners_)
    if (!x.answered && !answer(id, x))
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

bool state_donor::wants_copy() const {
  return !state_.empty()
         && std::any_of(joiners_.begin(), joiners_.end(), [&](auto& x) {
              return !x.second.answered && x.second.wish.step == step_;
            });
}

// ---- what joiners say -------------------------------------------------------

void state_donor::read(const peer_id& from, const state_request& x,
                       time_point now) {
  auto known = joiners_.find(from);
  if (known != joiners_.end() && known->second.wish.token == x.token) {
    budget_.admit(from, now);
    return;
  }
  if (known != joiners_.end())
    give_up(from);
  joiner asker;
  asker.wish = x;
  asker.means_told = x.step;
  // Who is declined a mean must not keep others from theirs: it would wait for
  // another donor, where somebody who waits for this one may have the place.
  if (state_.empty() || (x.means_only && !kept_by_journal(x))) {
    decline(from, asker);
  } else if (!budget_.admit(from, now, places_for(x))) {
    state_manifest busy;
    busy.token = x.token;
    busy.step = step_;
    busy.retry_ms = static_cast<std::uint32_t>(
        std::chrono::milliseconds{limits::busy_retry}.count());
    letters_.push_back({from, busy, {}});
  } else {
    auto& entry = joiners_[from] = asker;
    if (answer(from, entry))
      tell_means(from, entry);
    else
      give_up(from);
    tidy();
  }
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

/// Sends the version's manifest, or that it will not come, or waits for it.
/// @returns false when it wants another history: then nothing here is of use to
/// it, and it must not take the place of one that can be served.
bool state_donor::answer(const peer_id& id, joiner& x) {
  const auto& wish = x.wish;
  if (wish.means_only) {
    if (kept_by_journal(wish))
      x.answered = true; // The means are the answer.
    else
      decline(id, x);
    return true;
  }
  if (auto held = version(wish.step)) {
    if (!wish.state.empty() && wish.state != held->digest()) {
      decline(id, x);
      return false;
    }
    x.answered = true;
    letters_.push_back({id, held->manifest(wish.token), {}});
    return true;
  }
  std::vector<std::uint64_t> others;
  for (auto& v : versions_)
    others.push_back(v.state().step);
  for (auto& [other, y] : joiners_)
    if (other != id && !y.answered && !y.wish.means_only)
      others.push_back(y.wish.step);
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  bool room = others.size() < most_.snapshots
              || std::binary_search(others.begin(), others.end(), wish.step);
  bool strange
      = wish.step == step_ && !wish.state.empty() && wish.state != state_;
  if (wish.step < step_ || strange || !room
      || wish.step > step_ + limits::steps_ahead)
    decline(id, x);
  return !strange;
}

void state_donor::decline(const peer_id& id, joiner& x) {
  x.answered = true;
  state_manifest none;
  none.token = x.wish.token;
  none.step = step_;
  if (!versions_.empty())
    none.offered = versions_.back().state().step;
  for (auto& [other, y] : joiners_)
    if (!y.answered && !y.wish.means_only)
      none.offered = std::max(none.offered, y.wish.step);
  letters_.push_back({id, none, {}});
}

/// Whether all means behind what the joiner holds are here.
bool state_donor::kept_by_journal(const state_request& x) const {
  auto next = journal_.completing(x.step + 1);
  return (next && next->before == x.state)
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
    letters_.push_back({id, std::move(manifest), {}});
    x.means_told = step;
  }
}

void state_donor::read(const peer_id& from, const piece_request& x,
                       time_point now) {
  auto bytes = piece(x);
  auto nothing = state_letter{from, state_piece{x.state, x.piece, x.mean}, {}};
  if (bytes.size == 0) {
    if (budget_.serves(from))
      letters_.push_back(nothing);
    return;
  }
  switch (budget_.ask(from, x, bytes.size, now)) {
    case serving_budget::verdict::queued:
      look(now);
      break;
    case serving_budget::verdict::stranger: // It was given up.
    case serving_budget::verdict::too_much:
      letters_.push_back(nothing);
      break;
  }
}

shared_bytes state_donor::piece(const piece_request& x) const {
  if (x.mean) {
    auto mean = journal_.leading_to(x.state);
    return mean ? piece_of(*mean, x.piece) : shared_bytes{};
  }
  for (auto& v : versions_)
    if (v.digest() == x.state)
      return v.piece(x.piece);
  return {};
}

void state_donor::read(const peer_id& from, const state_done&) {
  give_up(from);
  tidy();
}

void state_donor::lost(const peer_id& id) {
  give_up(id);
  tidy();
}

void state_donor::give_up(const peer_id& id) {
  budget_.forget(id);
  joiners_.erase(id);
}

void state_donor::look(time_point now) {
  for (auto& id : budget_.expire(now))
    give_up(id);
  while (auto turn = budget_.next(now)) {
    auto& x = turn->request;
    letters_.push_back(
        {turn->joiner, state_piece{x.state, x.piece, x.mean}, piece(x)});
  }
  tidy();
}

/// Keeps only what somebody fetches.
void state_donor::tidy() {
  std::optional<std::uint64_t> oldest;
  for (auto& [id, x] : joiners_)
    oldest = std::min(oldest.value_or(x.wish.step), x.wish.step);
  journal_.keep_after(oldest);
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

std::vector<state_letter> state_donor::take_letters() {
  return std::exchange(letters_, {});
}

} // namespace potluck
