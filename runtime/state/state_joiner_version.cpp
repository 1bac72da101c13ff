/// The joiner's choice of a version: one that most donors can still serve.
#include "runtime/state/state_joiner.hpp"

#include <algorithm>

#include "runtime/config.hpp"

namespace potluck {

void state_joiner::start_version(std::uint64_t step, const digest& state,
                                 time_point now) {
  forget_version();
  do_without_relay(); // It has means only.
  means_only_ = resumed_ = false;
  stage_ = stage::loading;
  version_ = std::min(step, most_.last_step);
  version_state_ = state;
  version_began_ = now;
  versions_tried_.insert(step);
  ++tries_;
  if (!state.empty() || (goal_.alone && step <= known_step_))
    reached_ = now;
  ask_everybody(now);
}

void state_joiner::forget_version() {
  for (auto& [key, b] : blobs_)
    plan_.drop(key);
  blobs_.clear();
  mean_steps_.clear();
  transfer_.reset();
  awaited_.reset();
  reached_.reset();
  donorless_.reset();
  unserved_.reset();
  put_aside_at_.reset();
}

/// Whether this version, and what follows it, can still be had.
void state_joiner::decide(time_point now) {
  std::size_t waiting = 0, serving = 0, declining = 0, busy_ones = 0;
  std::vector<peer_id> silent;
  for (auto& [id, d] : donors_) {
    if (id == goal_.relay)
      continue; // It has nothing of its own.
    if (d.said == answer::none && reached_
        && now - std::max(d.asked, *reached_) > limits::manifest_patience)
      silent.push_back(id);
    else
      waiting += d.said == answer::none;
    serving += d.said == answer::serves;
    // Who is not past it has another history: no reason to leave this one.
    declining += d.said == answer::declines
                 && (d.step > version_ || version_state_.empty());
    busy_ones += d.said == answer::busy;
  }
  for (auto& id : silent) {
    if (std::find(goal_.donors.begin(), goal_.donors.end(), id)
        != goal_.donors.end())
      ban(id, "it does not answer for the state that it reports", now);
    else
      donors_.at(id).said = answer::declines;
  }
  bool lied = !goal_.donors.empty() && version_ == goal_.step
              && version_state_ == goal_.state && serving + busy_ones == 0
              && std::all_of(goal_.donors.begin(), goal_.donors.end(),
                             [&](auto& id) { return distrusts(id); });
  if (lied && !goal_.state.empty()) {
    fail("nobody holds the state that was reported", now);
    return;
  }
  if (waiting > 0) {
    if (!reached_ && now - version_began_ > limits::manifest_patience)
      fail("the run did not come to the step that was to be fetched", now);
    return;
  }
  bool needs_state = stage_ == stage::loading;
  if (needs_state || means_only_) {
    // Rather a version that most have than one that a single donor caught.
    bool few = needs_state && !resumed_ && serving < declining && tries_ < 4
               && plan_.progress({true, version_}).first == 0;
    // What is there already is worth waiting for a donor that comes back.
    bool patient
        = needs_state && !resumed_ && plan_.progress({true, version_}).first > 0
          && (!donorless_ || now - *donorless_ <= limits::donorless_patience);
    if (declining > 0 && ((serving + busy_ones == 0 && !patient) || few)) {
      next_version(now);
      return;
    }
  }
  // Others are served, or so it is said; who has trained has better to do than
  // to wait for that.
  if (needs_state && serving == 0 && busy_ones > 0 && goal_.own_step > 0) {
    if (!unserved_)
      unserved_ = now;
    if (now - *unserved_ > limits::busy_patience) {
      fail("all that hold the state are busy with others", now);
      return;
    }
  } else {
    unserved_.reset();
  }
  // Who has no such version may still have the means.
  if (serving + busy_ones > 0 || (!needs_state && declining > 0)) {
    donorless_.reset();
    return;
  }
  if (!donorless_)
    donorless_ = now;
  if (now - *donorless_ > limits::donorless_patience)
    fail("nobody serves that version any more", now, true);
}

void state_joiner::next_version(time_point now) {
  constexpr std::size_t most_tries = 12;
  std::map<std::uint64_t, std::size_t> offers;
  std::vector<std::uint64_t> steps;
  for (auto& [id, d] : donors_)
    if (d.said == answer::declines) {
      steps.push_back(d.step);
      if (d.offered > goal_.own_step && !versions_tried_.count(d.offered))
        ++offers[d.offered];
    }
  if (means_only_ || resumed_) {
    // The whole state, then, of the version that is current.
    start_version(goal_.step, goal_.state, now);
    return;
  }
  if (tries_ >= most_tries) {
    fail("no version of the state could be agreed on with the donors", now);
    return;
  }
  // What others fetch already, if half of the donors have it.
  for (auto& [step, votes] : offers)
    if (2 * votes >= steps.size()) {
      auto known = vouchers_.believed(step);
      start_version(step, known.value_or(digest{}), now);
      return;
    }
  // The middle one, so that no single donor can lead astray.
  std::nth_element(steps.begin(), steps.begin() + steps.size() / 2,
                   steps.end());
  auto current = steps[steps.size() / 2];
  // Asking took as long as so many steps. If more than one, name a step that
  // all can still catch, and a round one, so that joiners name the same.
  auto passed = current - std::min(known_step_, current);
  known_step_ = current;
  auto lead = passed > 1 ? 2 * (passed - 1) : tries_ / 4;
  if (lead == 0) {
    auto known = vouchers_.believed(current);
    start_version(current, known.value_or(digest{}), now);
    return;
  }
  std::uint64_t grain = 1;
  while (grain < lead && grain < limits::steps_ahead / 4)
    grain *= 2;
  start_version((current + lead + grain - 1) / grain * grain, {}, now);
}

} // namespace potluck
