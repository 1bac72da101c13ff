#include "runtime/lines/rate_window.hpp"

#include <algorithm>
#include <vector>

namespace potluck {

void rate_window::add(double rate, bool growing) {
  ++added_;
  bool below = rate < fall * rate_;
  if (below && growing)
    return;
  if (growing && samples_.size() < samples_kept)
    samples_.clear();
  low_ = below ? low_ + 1 : 0;
  samples_.push_back(rate);
  auto keep = low_ >= fall_samples ? fall_samples : samples_kept;
  while (samples_.size() > keep)
    samples_.pop_front();
  if (low_ >= fall_samples)
    low_ = 0;
  std::vector<double> sorted(samples_.begin(), samples_.end());
  auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  rate_ = *middle;
}

} // namespace potluck
