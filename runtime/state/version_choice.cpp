#include "runtime/state/version_choice.hpp"

#include <algorithm>

#include "runtime/median.hpp"
#include "runtime/state/limits.hpp"

namespace potluck {

version_choice::way version_choice::begin(const fetch_goal& goal,
                                          time_point now) {
  tried_.clear();
  tries_ = 0;
  known_step_ = newest_ = goal.step;
  newest_since_ = now;
  asking_ = {};
  means_only_ = false;
  const auto missed = goal.step - std::min(goal.own_step, goal.step);
  resumed_ = !goal.alone && !goal.state.empty() && put_aside_at_
             && now - *put_aside_at_ < limits::parked_life
             && step_ > goal.own_step;
  if (resumed_) {
    reached_ = now;
    return way::resumed;
  }
  if (goal.alone || goal.own_state.empty() || missed == 0
      || missed > limits::means_of_a_state) {
    fetch_state(goal.step, goal.state, goal.alone, now);
    return way::state;
  }
  forget();
  means_only_ = true;
  step_ = goal.own_step;
  state_ = goal.own_state;
  reached_ = now;
  return way::means;
}

/// From here on.
/// @param state Empty: nobody has named it.
void version_choice::fetch_state(std::uint64_t step, const digest& state,
                                 bool alone, time_point now) {
  forget();
  means_only_ = resumed_ = false;
  step_ = std::min(step, last_step_);
  state_ = state;
  began_ = now;
  tried_.insert(step);
  ++tries_;
  if (!state.empty() || (alone && step <= known_step_))
    reached_ = now; // Somebody is there already.
}

void version_choice::put_aside(const digest& state, time_point now) {
  state_ = state;
  if (!put_aside_at_)
    put_aside_at_ = now;
}

void version_choice::forget() {
  reached_.reset();
  donorless_.reset();
  unserved_.reset();
  put_aside_at_.reset();
}

void version_choice::heard_of(std::uint64_t step, time_point now) {
  if (step > newest_) {
    newest_ = step;
    newest_since_ = now;
  }
  if (!reached_ && step >= step_)
    reached_ = now;
}

bool version_choice::follow(std::uint64_t offered, const fetch_goal& goal,
                            const vouchers& claims, time_point now) {
  if (means_only_ || tried_.count(offered) || offered <= goal.own_step
      || offered > goal.step || goal.step - offered > limits::means_of_a_shelf)
    return false;
  fetch_state(offered, claims.believed(offered).value_or(digest{}), false, now);
  return true;
}

version_choice::judgement version_choice::judge(const situation& x,
                                                const fetch_goal& goal,
                                                const vouchers& claims,
                                                time_point now) {
  const auto& d = x.donors;
  if (x.lied && d.serving + d.busy == 0)
    return {advice::fail, "nobody holds the state that was reported"};
  if (is_out_of_reach(now)) {
    fetch_state(newest_, claims.believed(newest_).value_or(digest{}),
                goal.alone, now);
    return {advice::change};
  }
  if (d.waiting > 0) {
    if (!reached_ && now - began_ > limits::manifest_patience)
      return {advice::fail,
              "the run did not come to the step that was to be fetched"};
    return {};
  }
  if (x.loading || means_only_) {
    // Rather a version that most have than one that a single donor caught.
    bool few = x.loading && !resumed_ && d.serving < d.declining
               && tries_ < choosy_tries && !x.pieces_here;
    // What is there already is worth waiting for a donor that comes back.
    bool patient
        = x.loading && !resumed_ && x.pieces_here
          && (!donorless_ || now - *donorless_ <= limits::donorless_patience);
    if (d.declining > 0 && ((d.serving + d.busy == 0 && !patient) || few))
      return change(x.donors.refusals, goal, claims, now);
  }
  // Others are served, or so it is said; a peer that has trained has better to
  // do than to wait for that.
  if (x.loading && d.serving == 0 && d.busy > 0 && goal.own_step > 0) {
    if (!unserved_)
      unserved_ = now;
    if (now - *unserved_ > limits::busy_patience)
      return {advice::fail, "all that hold the state are busy with others"};
  } else {
    unserved_.reset();
  }
  // A donor that has no such version may still have the means.
  if (d.serving + d.busy > 0 || (!x.loading && d.declining > 0)) {
    donorless_.reset();
    return {};
  }
  if (!donorless_)
    donorless_ = now;
  if (now - *donorless_ > limits::donorless_patience)
    return {advice::set_aside, "nobody serves that version any more"};
  return {};
}

bool version_choice::is_out_of_reach(time_point now) const {
  return !means_only_ && !reached_ && newest_ < step_ && tries_ < most_tries
         && now - std::max(newest_since_, began_)
                > std::max(standstill, standstill_times * asking_);
}

version_choice::judgement
version_choice::change(const std::vector<donor_panel::refusal>& refusals,
                       const fetch_goal& goal, const vouchers& claims,
                       time_point now) {
  auto take = [&](std::uint64_t step, const digest& state) {
    fetch_state(step, state, goal.alone, now);
    return judgement{advice::change};
  };
  auto take_named = [&](std::uint64_t step) {
    return take(step, claims.believed(step).value_or(digest{}));
  };
  if (means_only_ && goal.state.empty())
    return {advice::fail, "nobody has the mean of the step that was missed"};
  if (means_only_ || resumed_)
    return take(goal.step, goal.state); // The whole state, then.
  if (tries_ >= most_tries)
    return {advice::fail,
            "no version of the state could be agreed on with the donors"};
  std::map<std::uint64_t, std::size_t> offers;
  std::vector<std::uint64_t> steps;
  for (auto& x : refusals) {
    steps.push_back(x.at);
    if (x.offered > goal.own_step && !tried_.count(x.offered))
      ++offers[x.offered];
  }
  // What others fetch already, if half of the donors have it.
  for (auto& [step, votes] : offers)
    if (2 * votes >= steps.size())
      return take_named(step);
  // The middle one, so that no single donor can lead astray.
  const auto middle = upper_median(steps);
  // Asking took as long as so many steps. If more than one, name a step that
  // all can still catch, and a round one, so that joiners name the same.
  auto passed = middle - std::min(known_step_, middle);
  known_step_ = middle;
  asking_ = now - began_;
  auto lead = steps.size() == 1 && tries_ <= tries_alone ? 0
              : passed > 1                               ? 2 * (passed - 1)
                                                         : tries_ / 4;
  if (lead == 0)
    return take_named(middle);
  std::uint64_t grain = 1;
  while (grain < lead && grain < limits::steps_ahead / 4)
    grain *= 2;
  return take((middle + lead + grain - 1) / grain * grain, {});
}

} // namespace potluck
