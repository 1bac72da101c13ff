#include "runtime/progress/past_steps.hpp"

#include <algorithm>
#include <utility>

#include "runtime/contract_members.hpp"
#include "runtime/median.hpp"
#include "runtime/progress/speed_book.hpp"

namespace potluck {

namespace {

/// Who goes on as before is believed to be so many times as fast: machines are
/// busy now and then, and a step that needs more lasts longer. In a contract it
/// counts for as much as it has shown, or the median one has, and for so many
/// times as much again: so a fast one that is new reaches 100 times the median
/// in five steps.
constexpr double spare = 2;
/// Who has come since is believed to be so many times as fast as the median
/// trainer of the last step: most GPUs beside laptops. So is who was there and
/// brought nothing to it, once this step lasts so many times as long; and in a
/// run's first contract everybody.
constexpr double unseen = 16;
constexpr double overlong = 2;
/// What was shown fades by this factor a step: one bad step of a fast machine,
/// or one that is made without it, costs it nothing.
constexpr double fading = 0.5;
/// Seconds. A peer that has just come may be in a group at once.
constexpr double shortest_step = 1e-3;

double seconds_of(duration x) {
  return std::chrono::duration<double>(x).count();
}

std::vector<past_steps::claim> claims_of(const group_contract& x) {
  std::vector<past_steps::claim> all;
  for (const auto& m : x.members)
    if (m.role == role::trainer)
      all.push_back({m.who.id, m.samples});
  return all;
}

} // namespace

past_steps past_steps::newcomer(const peer_id& self) {
  past_steps result;
  result.newcomer_ = self;
  result.steps_ = 0;
  return result;
}

past_steps past_steps::redrawn() {
  past_steps result;
  result.redrawn_ = true;
  return result;
}

void past_steps::formed(duration computing, std::set<peer_id> there) {
  formed_after_ = std::max(shortest_step, seconds_of(computing));
  there_ = std::move(there);
}

void past_steps::made(const group_contract& x,
                      const std::vector<std::uint8_t>& left_out) {
  std::map<peer_id, record> next;
  std::vector<double> all;
  for (const auto* m : trainers_behind(x, left_out)) {
    const auto samples = static_cast<double>(m->samples);
    if (m->samples > 0)
      all.push_back(samples);
    const auto known = known_.find(m->who.id);
    auto& now = next[m->who.id];
    // Who brought nothing rests, and goes on later as it did before.
    now.brought = m->samples > 0 ? samples : brought(m->who.id);
    now.last = samples;
    now.steps = known == known_.end() ? 1 : known->second.steps + 1;
    now.shown.fill(samples);
  }
  if (all.empty())
    return;
  seconds_ = std::max(shortest_step, formed_after_);
  typical_ = lower_median(std::move(all));
  for (const auto& [id, before] : known_) {
    const auto now = next.find(id);
    const auto brings = now != next.end() && now->second.last > 0;
    const auto least = brings ? now->second.last : typical_;
    for (std::size_t i = 1; i < steps_to_fade; ++i) {
      const auto rest = fading * before.shown[i == own_view ? own_view : i - 1];
      if (rest > least)
        next[id].shown[i] = rest;
    }
  }
  known_ = std::move(next);
  newcomer_.reset();
  if (steps_)
    ++*steps_;
}

// ---- when a step is due -----------------------------------------------------

bool past_steps::is_sure() const {
  return !steps_ || *steps_ >= steps_to_fade;
}

double past_steps::brought(const peer_id& who) const {
  const auto known = known_.find(who);
  return known == known_.end() ? 0 : known->second.brought;
}

double past_steps::unseen_seconds(const peer_id& who, duration elapsed) const {
  const auto waits = there_.count(who) != 0 ? overlong * seconds_ : 0;
  return std::max(0.0, seconds_of(elapsed) - waits);
}

double past_steps::most_samples(const peer_id& who, duration elapsed) const {
  const auto known = brought(who);
  if (known <= 0)
    return most_speed(who, elapsed) * unseen_seconds(who, elapsed);
  // What others computed beside a round is there when the step begins.
  return known * (1 + spare * seconds_of(elapsed) / seconds_);
}

double past_steps::most_speed(const peer_id& who, duration elapsed) const {
  if (const auto known = brought(who); known > 0)
    return (1 + spare) * known / seconds_;
  return unseen_seconds(who, elapsed) > 0 ? unseen * typical_ / seconds_ : 0;
}

// ---- what counts in its contract --------------------------------------------

std::uint64_t past_steps::bounds::of(const peer_id& who) const {
  if (!by_ || (by_->newcomer_ && who != *by_->newcomer_))
    return UINT64_MAX;
  const auto known = by_->known_.find(who);
  const auto shown
      = known == by_->known_.end() ? 0 : known->second.shown[view_];
  const auto most = std::max(least_, shown) * times_;
  return most < speed_book::most_possible
             ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(most))
             : UINT64_MAX;
}

past_steps::bounds past_steps::seen_among(const std::vector<claim>& all,
                                          duration elapsed,
                                          std::size_t view) const {
  std::vector<double> samples;
  std::vector<double> paces; // How many times what they have shown.
  for (const auto& x : all) {
    if (x.samples == 0)
      continue;
    samples.push_back(static_cast<double>(x.samples));
    if (const auto known = known_.find(x.who);
        known != known_.end() && known->second.shown[view] > 0)
      paces.push_back(samples.back() / known->second.shown[view]);
  }
  bounds result;
  result.view_ = view;
  const bool tells = samples.size() >= least_trainers;
  if (empty() ? !tells : samples.size() < 2)
    return result;
  result.by_ = this;
  if (empty()) {
    result.least_ = lower_median(std::move(samples));
    result.times_ = redrawn_    ? most_times_median
                    : newcomer_ ? 1 + spare
                                : unseen;
    return result;
  }
  result.least_ = typical_;
  // What others computed beside a round is there when the step begins.
  result.times_
      = 1
        + spare
              * (tells && !paces.empty() ? lower_median(std::move(paces))
                                         : seconds_of(elapsed) / seconds_);
  return result;
}

past_steps::bounds past_steps::among(const std::vector<claim>& all,
                                     duration elapsed) const {
  return seen_among(all, elapsed, own_view);
}

past_steps::bounds past_steps::among(const group_contract& x,
                                     duration elapsed) const {
  return seen_among(claims_of(x), elapsed, own_view);
}

past_steps::bounds past_steps::leaders_among(const group_contract& x,
                                             duration elapsed) const {
  const auto leader = known_.find(x.members.front().who.id);
  const auto steps = leader == known_.end() ? 0 : leader->second.steps;
  const auto view = std::clamp(steps, 1u, steps_to_fade) - 1;
  return seen_among(claims_of(x), elapsed, view);
}

} // namespace potluck
