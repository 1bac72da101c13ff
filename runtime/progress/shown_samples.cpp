#include "runtime/progress/shown_samples.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

namespace {

/// A trainer counts for as much as it has shown, or the median one has, and for
/// so many times as much again: a machine is busy now and then, and a fast one
/// that is new reaches 100 times the median in five steps.
constexpr double spare = 2;
/// What was shown fades by this factor a step: one bad step of a fast machine,
/// or one that is made without it, costs it nothing.
constexpr double fading = 0.5;
/// After so many steps not even 256 times the median is left of it.
constexpr std::uint64_t steps_to_fade = 8;
/// Well below 2^63, so that a double becomes a number of samples.
constexpr double most_samples = 1e18;

double lower_median(std::vector<double> xs) {
  const auto middle
      = xs.begin() + static_cast<std::ptrdiff_t>((xs.size() - 1) / 2);
  std::nth_element(xs.begin(), middle, xs.end());
  return *middle;
}

} // namespace

std::uint64_t shown_samples::bounds::of(const peer_id& who) const {
  if (!by_ || (by_->newcomer_ && who != *by_->newcomer_))
    return UINT64_MAX;
  const auto known = by_->shown_.find(who);
  const auto shown = known == by_->shown_.end() ? 0 : known->second;
  const auto most = std::max(least_, shown) * times_;
  return most < most_samples
             ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(most))
             : UINT64_MAX;
}

shown_samples shown_samples::newcomer(const peer_id& self) {
  shown_samples result;
  result.newcomer_ = self;
  return result;
}

bool shown_samples::is_sure() const {
  return steps_ >= steps_to_fade;
}

void shown_samples::made(const group_contract& x,
                         const std::vector<std::uint8_t>& left_out) {
  std::map<peer_id, double> seen;
  std::vector<double> all;
  for (std::size_t i = 0; i < x.members.size(); ++i) {
    const auto& m = x.members[i];
    if (m.role != role::trainer || m.samples == 0
        || std::binary_search(left_out.begin(), left_out.end(), i))
      continue;
    all.push_back(static_cast<double>(m.samples));
    seen[m.who.id] = all.back();
  }
  if (all.empty())
    return;
  typical_ = lower_median(all);
  for (const auto& [id, before] : shown_) {
    const auto rest = fading * before;
    if (auto now = seen.find(id); now != seen.end())
      now->second = std::max(now->second, rest);
    else if (rest > typical_)
      seen[id] = rest;
  }
  shown_ = std::move(seen);
  newcomer_.reset();
  ++steps_;
}

shown_samples::bounds
shown_samples::among(const std::vector<claim>& all) const {
  std::vector<double> samples;
  std::vector<double> paces;
  for (const auto& x : all) {
    if (x.samples == 0)
      continue;
    samples.push_back(static_cast<double>(x.samples));
    if (const auto known = shown_.find(x.who); known != shown_.end())
      paces.push_back(samples.back() / known->second);
  }
  bounds result;
  if (samples.size() < least_trainers || (paces.empty() && !newcomer_))
    return result;
  result.by_ = this;
  result.least_ = newcomer_ ? lower_median(samples) : typical_;
  // What others computed beside a round is there when the step begins.
  result.times_ = 1 + spare * (newcomer_ ? 1 : lower_median(paces));
  return result;
}

shown_samples::bounds shown_samples::among(const group_contract& x) const {
  std::vector<claim> all;
  for (const auto& m : x.members)
    if (m.role == role::trainer)
      all.push_back({m.who.id, m.samples});
  return among(all);
}

} // namespace potluck
