#include "runtime/progress/progress_tracker.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace potluck {

namespace {

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

void progress_tracker::update_self(const progress_report& report,
                                   time_point now) {
  if (report.step != self_.step || report.state != self_.state)
    held_since_ = now;
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
  const bool joining = self_.phase == phase::joining;
  auto may_lead = [&](const heard& heard) {
    // Contributors get their states from members, too.
    return counts(heard, now) && heard.report.role == role::trainer
           && !heard.report.contributes && heard.report.phase != phase::joining;
  };
  // Of the states that end histories as long as ours.
  std::map<digest, std::size_t> holders{{self_.state, 1}};
  for (const auto& [id, heard] : others_)
    if (may_lead(heard)
        && heard.report.history_samples == self_.history_samples)
      ++holders[heard.report.state];
  // Those that are better than ours, the longest first.
  std::map<std::uint64_t, reports, std::greater<>> better;
  std::map<peer_id, time_point> ahead_since;
  std::size_t others_than = joining ? 0 : 1; // The longest, and not our rivals.
  for (const auto& [id, heard] : others_) {
    const auto& x = heard.report;
    if (!may_lead(heard))
      continue;
    bool rival
        = x.history_samples == self_.history_samples && x.state != self_.state;
    others_than += !rival;
    // Of equally long ones that counts which most hold: one peer with a state
    // of its own, a banned one for instance, moves nobody.
    bool tie = rival && holders[x.state] != holders[self_.state];
    bool is_better = tie ? holders[x.state] > holders[self_.state]
                         : better_history(x, self_);
    if (!joining && !is_better)
      continue;
    better[x.history_samples].push_back(&x);
    auto known = ahead_since_.find(id);
    ahead_since[id] = known == ahead_since_.end() ? now : known->second;
  }
  ahead_since_ = std::move(ahead_since);

  std::size_t supporters = 0;
  for (const auto& [length, group] : better) {
    bool longer = length > self_.history_samples;
    if (longer) {
      supporters += group.size();
      others_than -= std::min(group.size(), others_than);
    }
    bool few = longer && limits::few_of * supporters < others_than;
    if (!few || (!joining && long_ahead(group, now)))
      return of_one_state(group, holders);
  }
  // A joiner has nothing to lose.
  if (joining && !better.empty())
    return of_one_state(better.begin()->second, holders);
  return {};
}

bool progress_tracker::long_ahead(const reports& group, time_point now) const {
  return std::any_of(group.begin(), group.end(), [&](const auto* x) {
    return now - ahead_since_.at(x->id) >= limits::minority_patience;
  });
}

std::vector<progress_report> progress_tracker::of_one_state(
    const reports& group, const std::map<digest, std::size_t>& holders) const {
  // Who is behind believes the most. Between equals the order decides, so that
  // two halves of a run do not swap their states.
  bool tie = group.front()->history_samples == self_.history_samples;
  auto held_by = [&](const progress_report* x) {
    auto known = holders.find(x->state);
    return tie && known != holders.end() ? known->second : 0;
  };
  const auto* best = *std::min_element(
      group.begin(), group.end(), [&](const auto* a, const auto* b) {
        auto of_a = held_by(a);
        auto of_b = held_by(b);
        return of_a != of_b ? of_a > of_b : a->state < b->state;
      });
  if (self_.phase == phase::joining || !tie) {
    std::map<digest, std::size_t> votes;
    for (const auto* x : group)
      if (2 * ++votes[x->state] > group.size())
        best = x;
  }
  std::vector<progress_report> result;
  for (const auto* x : group)
    if (x->state == best->state && x->step == best->step)
      result.push_back(*x);
  return result;
}

speed_book progress_tracker::speeds(time_point now) const {
  speed_book result{target_batch_, self_, now - held_since_};
  for (const auto& [id, x] : others_)
    if (counts(x, now) && x.report.role == role::trainer
        && !x.report.contributes)
      result.add(x.report, accompanies(x.report));
  return result;
}

std::uint64_t progress_tracker::total_samples(time_point now) const {
  std::uint64_t result = self_.samples;
  const auto most = speeds(now).most_samples();
  for (const auto& [id, x] : others_)
    if (counts(x, now) && accompanies(x.report))
      result = add(result, std::min(x.report.samples, most));
  return result;
}

double progress_tracker::speed_of(const progress_report& x) const {
  if (x.phase != phase::accumulating || !std::isfinite(x.samples_per_second)
      || x.samples_per_second <= 0)
    return 0;
  return x.samples_per_second;
}

double progress_tracker::estimated_samples(time_point now) const {
  double result = static_cast<double>(self_.samples);
  const auto book = speeds(now);
  const auto most = book.most_samples();
  const auto most_speed = book.most_speed();
  for (const auto& [id, x] : others_) {
    if (!counts(x, now) || !accompanies(x.report))
      continue;
    double age = std::chrono::duration<double>(now - x.at).count();
    result += static_cast<double>(std::min(x.report.samples, most))
              + std::min(speed_of(x.report), most_speed) * std::max(age, 0.0);
  }
  return result;
}

double progress_tracker::samples_per_second(time_point now) const {
  double result = speed_of(self_);
  const auto most = speeds(now).most_speed();
  for (const auto& [id, x] : others_)
    if (counts(x, now) && accompanies(x.report))
      result += std::min(speed_of(x.report), most);
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
