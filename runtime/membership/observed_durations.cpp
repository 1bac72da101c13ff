#include "runtime/membership/observed_durations.hpp"

#include <algorithm>
#include <array>

namespace potluck {

namespace {

using std::chrono::microseconds;

static_assert(observed_durations::longest / microseconds{1} <= 0xffffffff);

/// The middle of all that `of` makes of the observations.
template <class Make>
duration middle_of(const std::vector<std::uint32_t>& observed, Make of) {
  const auto count = static_cast<std::ptrdiff_t>(observed.size());
  if (count == 0)
    return duration::zero();
  std::array<duration, observed_durations::window> items;
  std::transform(observed.begin(), observed.end(), items.begin(), of);
  const auto middle = items.begin() + count / 2;
  std::nth_element(items.begin(), middle, items.begin() + count);
  if (count % 2 == 1)
    return *middle;
  return (*middle + *std::max_element(items.begin(), middle)) / 2;
}

} // namespace

void observed_durations::add(duration observed) {
  const auto x = static_cast<std::uint32_t>(
      std::clamp(observed, duration::zero(), duration{longest})
      / microseconds{1});
  if (observed_.size() < window) {
    observed_.push_back(x);
    return;
  }
  observed_[next_] = x;
  next_ = (next_ + 1) % window;
}

duration observed_durations::median() const {
  return middle_of(observed_, [](auto x) { return duration{microseconds{x}}; });
}

duration observed_durations::spread() const {
  const auto middle = median();
  return middle_of(observed_, [middle](auto x) {
    return std::chrono::abs(duration{microseconds{x}} - middle);
  });
}

duration observed_durations::deadline(duration floor, duration cap) const {
  if (count() < enough)
    return cap;
  // Integers, so that every machine gets the same: at most an hour times
  // 90,000, far below 2^63 nanoseconds.
  const duration allowed = median() + spread() * tolerance * 14826 / 10000;
  return std::clamp(allowed, floor, cap);
}

} // namespace potluck
