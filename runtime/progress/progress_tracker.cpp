#include "runtime/progress/progress_tracker.hpp"

#include "runtime/config.hpp"
#include "runtime/safeguards.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace potluck {

namespace {

/// Samples per second beyond which a claim is not believed.
constexpr double highest_speed = 1e9;

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
}

} // namespace

bool better_history(const progress_report& a, const progress_report& b) {
  return a.history_samples != b.history_samples
             ? a.history_samples > b.history_samples
             : a.state < b.state;
}

progress_tracker::progress_tracker(std::uint64_t target_batch,
                                   const peer_id& self, duration silent_after)
    : target_batch_{target_batch}, id_{self}, silent_after_{silent_after} {
  if (target_batch == 0)
    throw std::invalid_argument{"A step needs samples."};
}

void progress_tracker::hear(const progress_report& report, time_point at) {
  if (report.id == id_)
    return;
  auto known = others_.find(report.id);
  if (known != others_.end()) {
    if (at >= known->second.at)
      known->second = {report, at};
    return;
  }
  if (others_.size() >= most_peers)
    others_.erase(std::min_element(others_.begin(), others_.end(),
                                   [](const auto& a, const auto& b) {
                                     return a.second.at < b.second.at;
                                   }));
  others_.insert({report.id, heard{report, at}});
}

void progress_tracker::update_self(const progress_report& report) {
  self_ = report;
}

void progress_tracker::forget(const peer_id& peer) {
  others_.erase(peer);
}

bool progress_tracker::counts(const heard& x, time_point now) const {
  return now - x.at <= silent_after_
         && (self_.charter.empty() || x.report.charter == self_.charter);
}

bool progress_tracker::accompanies(const progress_report& x) const {
  return x.role == role::trainer && !x.contributes && x.phase != phase::joining
         && x.phase != phase::finished && x.step == self_.step
         && x.state == self_.state;
}

std::vector<progress_report> progress_tracker::fresh(time_point now) const {
  std::vector<progress_report> result;
  for (const auto& [id, x] : others_)
    if (counts(x, now))
      result.push_back(x.report);
  return result;
}

std::vector<progress_report>
progress_tracker::companions(time_point now) const {
  std::vector<progress_report> result;
  for (const auto& [id, x] : others_)
    if (counts(x, now) && accompanies(x.report))
      result.push_back(x.report);
  return result;
}

std::vector<progress_report>
progress_tracker::auxiliaries(time_point now) const {
  std::vector<progress_report> result;
  for (const auto& [id, x] : others_)
    if (counts(x, now) && x.report.role == role::auxiliary)
      result.push_back(x.report);
  return result;
}

std::vector<progress_report> progress_tracker::ahead(time_point now) {
  std::vector<const progress_report*> longest;
  // Of the states that end histories as long as ours.
  std::map<digest, std::size_t> holders{{self_.state, 1}};
  auto may_lead = [&](const heard& heard) {
    // Contributors get their states from members, too.
    return counts(heard, now) && heard.report.role == role::trainer
           && !heard.report.contributes && heard.report.phase != phase::joining;
  };
  for (const auto& [id, heard] : others_)
    if (may_lead(heard)
        && heard.report.history_samples == self_.history_samples)
      ++holders[heard.report.state];
  for (const auto& [id, heard] : others_) {
    const auto& x = heard.report;
    if (!may_lead(heard))
      continue;
    // Of equally long ones that counts which most hold: one peer with a state
    // of its own, a banned one for instance, moves nobody.
    bool tie = x.history_samples == self_.history_samples
               && holders[x.state] != holders[self_.state];
    bool better = tie ? holders[x.state] > holders[self_.state]
                            && x.state != self_.state
                      : better_history(x, self_);
    if (self_.phase != phase::joining
        && (!better || !guarded(safeguard::longer_history)))
      continue;
    if (!longest.empty()
        && x.history_samples > longest.front()->history_samples)
      longest.clear();
    if (longest.empty()
        || x.history_samples == longest.front()->history_samples)
      longest.push_back(&x);
  }
  if (longest.empty()) {
    few_ahead_since_.reset();
    return {};
  }
  if (self_.phase != phase::joining && hold_back(now))
    return {};
  // Who is behind believes the most. Between equals the order decides, so that
  // two halves of a run do not swap their states.
  bool tie = longest.front()->history_samples == self_.history_samples;
  const auto* best = *std::min_element(
      longest.begin(), longest.end(), [&](const auto* a, const auto* b) {
        auto of_a = tie ? holders[a->state] : 0;
        auto of_b = tie ? holders[b->state] : 0;
        return of_a != of_b ? of_a > of_b : a->state < b->state;
      });
  if (self_.phase == phase::joining
      || best->history_samples > self_.history_samples) {
    std::map<digest, std::size_t> votes;
    for (const auto* x : longest)
      if (2 * ++votes[x->state] > longest.size())
        best = x;
  }
  std::vector<progress_report> result;
  for (const auto* x : longest)
    if (x->state == best->state && x->step == best->step)
      result.push_back(*x);
  return result;
}

bool progress_tracker::hold_back(time_point now) {
  std::size_t with_us = 1;
  std::size_t longer = 0;
  for (const auto& [id, heard] : others_) {
    const auto& x = heard.report;
    if (!counts(heard, now) || x.role != role::trainer || x.contributes
        || x.phase == phase::joining)
      continue;
    with_us += x.state == self_.state && x.step == self_.step;
    longer += x.history_samples > self_.history_samples;
  }
  if (longer == 0 || limits::few_of * longer >= with_us) {
    few_ahead_since_.reset();
    return false;
  }
  if (!few_ahead_since_)
    few_ahead_since_ = now;
  return now - *few_ahead_since_ < limits::minority_patience;
}

std::uint64_t progress_tracker::total_samples(time_point now) const {
  std::uint64_t result = self_.samples;
  for (const auto& [id, x] : others_)
    if (counts(x, now) && accompanies(x.report))
      result = add(result, x.report.samples);
  return result;
}

double progress_tracker::speed_of(const progress_report& x) const {
  if (x.phase != phase::accumulating || !std::isfinite(x.samples_per_second)
      || x.samples_per_second <= 0)
    return 0;
  return std::min(x.samples_per_second, highest_speed);
}

double progress_tracker::estimated_samples(time_point now) const {
  double result = static_cast<double>(self_.samples);
  for (const auto& [id, x] : others_) {
    if (!counts(x, now) || !accompanies(x.report))
      continue;
    double age = std::chrono::duration<double>(now - x.at).count();
    result += static_cast<double>(x.report.samples)
              + speed_of(x.report) * std::max(age, 0.0);
  }
  return result;
}

double progress_tracker::samples_per_second(time_point now) const {
  double result = speed_of(self_);
  for (const auto& [id, x] : others_)
    if (counts(x, now) && accompanies(x.report))
      result += speed_of(x.report);
  return result;
}

std::optional<duration> progress_tracker::time_to_target(time_point now) const {
  double missing = static_cast<double>(target_batch_) - estimated_samples(now);
  if (missing <= 0)
    return duration::zero();
  double speed = samples_per_second(now);
  if (speed <= 0)
    return std::nullopt;
  double seconds = missing / speed;
  if (seconds >= std::chrono::duration<double>(longest_estimate).count())
    return longest_estimate;
  return std::chrono::duration_cast<duration>(
      std::chrono::duration<double>(seconds));
}

std::uint64_t progress_tracker::my_quota(time_point now) const {
  double missing = static_cast<double>(target_batch_) - estimated_samples(now);
  double speed = speed_of(self_);
  if (missing <= 0 || speed <= 0)
    return 1;
  double fair = std::ceil(missing * speed / samples_per_second(now));
  if (fair >= static_cast<double>(target_batch_))
    return target_batch_;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(fair));
}

} // namespace potluck
