#include "runtime/membership/observed_durations.hpp"

#include <algorithm>

namespace potluck {

namespace {

/// Reorders the first `count` items.
template <class Durations>
duration middle_of(Durations& items, std::size_t count) {
  if (count == 0)
    return duration::zero();
  auto begin = items.begin();
  auto end = begin + static_cast<std::ptrdiff_t>(count);
  auto middle = begin + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(begin, middle, end);
  if (count % 2 == 1)
    return *middle;
  return (*middle + *std::max_element(begin, middle)) / 2;
}

} // namespace

void observed_durations::add(duration observed) {
  observed_[next_] = std::clamp(observed, duration::zero(), duration{longest});
  next_ = (next_ + 1) % window;
  count_ = std::min(count_ + 1, window);
}

duration observed_durations::median() const {
  auto items = observed_;
  return middle_of(items, count_);
}

duration observed_durations::spread() const {
  const auto middle = median();
  auto items = observed_;
  for (auto& x : items)
    x = std::chrono::abs(x - middle);
  return middle_of(items, count_);
}

duration observed_durations::deadline(duration floor, duration cap) const {
  if (count_ < enough)
    return cap;
  // Integers, so that every machine gets the same: at most an hour times
  // 90,000, far below 2^63 nanoseconds.
  const duration allowed = median() + spread() * tolerance * 14826 / 10000;
  return std::clamp(allowed, floor, cap);
}

} // namespace potluck
