#include "runtime/progress/progress_tracker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace potluck {

namespace {

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
}

/// A peer that takes over a state does not know when others began the step from
/// it. They may have waited so long for peers that fetch it (a peer alone does:
/// runtime/step/entering.hpp), and computed.
constexpr auto longest_entry = std::chrono::seconds{60};

/// Whether it says anything new of how far a step is.
bool is_news(const progress_report& x, const progress_report& before) {
  return x.samples != before.samples || x.step != before.step
         || x.state != before.state || x.phase != before.phase;
}

} // namespace

bool averages(const progress_report& x) {
  return x.role == role::trainer && !x.contributes && x.phase != phase::joining;
}

progress_tracker::progress_tracker(std::uint64_t target_batch,
                                   const peer_id& self, duration silent_after)
    : target_batch_{target_batch}, id_{self},
      silent_after_{silent_after}, past_{std::make_shared<past_steps>()} {
  if (target_batch == 0)
    throw std::invalid_argument{"A step needs samples."};
}

void progress_tracker::hear(const progress_report& report, time_point at) {
  if (report.id == id_)
    return;
  auto known = others_.find(report.id);
  if (known != others_.end()) {
    auto& before = known->second;
    if (at >= before.at)
      before = {report, at, is_news(report, before.report) ? at : before.since};
    return;
  }
  if (others_.size() >= most_peers)
    others_.erase(std::min_element(others_.begin(), others_.end(),
                                   [](const auto& a, const auto& b) {
                                     return a.second.at < b.second.at;
                                   }));
  others_.insert({report.id, heard{report, at, at}});
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
  return averages(x) && x.phase != phase::finished && x.step == self_.step
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
    if (counts(x, now) && x.report.role == role::auxiliary
        && x.report.phase != phase::joining)
      result.push_back(x.report);
  return result;
}

std::vector<const progress_report*>
progress_tracker::averaging(time_point now) const {
  std::vector<const progress_report*> result;
  for (const auto& [id, x] : others_)
    if (counts(x, now) && averages(x.report))
      result.push_back(&x.report);
  return result;
}

speed_book progress_tracker::speeds_since(duration elapsed,
                                          time_point now) const {
  speed_book result{target_batch_, self_, elapsed};
  for (const auto& [id, x] : others_)
    if (counts(x, now) && x.report.role == role::trainer
        && !x.report.contributes)
      result.add(x.report, accompanies(x.report));
  return result;
}

std::uint64_t progress_tracker::believable_samples(time_point now) const {
  const auto before = past_->is_newcomers() ? longest_entry : duration{0};
  return speeds_since(computing(now) + before, now).believable_samples();
}

void progress_tracker::formed(time_point now) {
  std::set<peer_id> there;
  for (const auto& x : companions(now))
    there.insert(x.id);
  auto past = *past_;
  past.formed(computing(now), std::move(there));
  past_ = std::make_shared<past_steps>(std::move(past));
}

void progress_tracker::made(const group_contract& x,
                            const std::vector<std::uint8_t>& left_out) {
  auto past = *past_;
  past.made(x, left_out);
  past_ = std::make_shared<past_steps>(std::move(past));
}

void progress_tracker::forget_steps() {
  past_ = std::make_shared<past_steps>(past_steps::newcomer(id_));
}

void progress_tracker::remembers_nothing() {
  past_ = std::make_shared<past_steps>(past_steps::redrawn());
}

progress_tracker::belief progress_tracker::belief_at(time_point now) const {
  const auto book = speeds(now);
  std::vector<past_steps::claim> claims{{id_, self_.samples}};
  for (const auto& [id, x] : others_)
    if (counts(x, now) && accompanies(x.report))
      claims.push_back({id, x.report.samples});
  const auto elapsed = computing(now);
  return {book.most_samples(), book.most_speed(), elapsed,
          past_->among(claims, elapsed)};
}

std::uint64_t progress_tracker::own_samples(const belief& all) const {
  return std::min(self_.samples, all.counted.of(id_));
}

double progress_tracker::samples_of(const progress_report& x,
                                    const belief& all) const {
  const auto samples = static_cast<double>(
      std::min({x.samples, all.most_samples, all.counted.of(x.id)}));
  return past_->empty()
             ? samples
             : std::min(samples, past_->most_samples(x.id, all.elapsed));
}

double progress_tracker::speed_of(const progress_report& x,
                                  const belief& all) const {
  if (x.samples >= all.counted.of(x.id))
    return 0; // More of it would not count.
  const auto speed = std::min(speed_of(x), all.most_speed);
  return past_->empty() ? speed
                        : std::min(speed, past_->most_speed(x.id, all.elapsed));
}

std::uint64_t progress_tracker::total_samples(time_point now) const {
  const auto believed = belief_at(now);
  auto result = own_samples(believed);
  for (const auto& [id, x] : others_)
    if (counts(x, now) && accompanies(x.report))
      result = add(result,
                   static_cast<std::uint64_t>(samples_of(x.report, believed)));
  return result;
}

double progress_tracker::speed_of(const progress_report& x) const {
  if (x.phase != phase::accumulating || !std::isfinite(x.samples_per_second)
      || x.samples_per_second <= 0)
    return 0;
  return x.samples_per_second;
}

double progress_tracker::estimated_samples(time_point now) const {
  const auto believed = belief_at(now);
  auto result = static_cast<double>(own_samples(believed));
  for (const auto& [id, x] : others_) {
    if (!counts(x, now) || !accompanies(x.report))
      continue;
    const auto age = std::min(now - x.since, silent_after_);
    result += samples_of(x.report, believed)
              + speed_of(x.report, believed)
                    * std::max(std::chrono::duration<double>(age).count(), 0.0);
  }
  return result;
}

double progress_tracker::samples_per_second(time_point now) const {
  double result = speed_of(self_);
  const auto believed = belief_at(now);
  for (const auto& [id, x] : others_)
    if (counts(x, now) && accompanies(x.report))
      result += speed_of(x.report, believed);
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
