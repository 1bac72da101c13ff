/// The rate behind noisy samples of it: their median, and quick to follow when
/// the line has become slower.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "runtime/median.hpp"

namespace potluck {

class rate_window {
public:
  /// Samples that the median is of: with as many, a burst of up to seven
  /// samples does not lift it.
  static constexpr std::size_t samples_kept = 15;
  /// So many samples in a row clearly below the median are no noise any more,
  /// and all before them are dropped.
  static constexpr std::size_t fall_samples = 4;
  static constexpr double fall = 0.7;

  /// @param growing Of a transfer that is still gaining speed, as TCP does at
  /// its beginning: such a sample says nothing about a line that is known to be
  /// faster, and what came before it was too low.
  void add(double rate, bool growing) {
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
    rate_ = upper_median(std::vector<double>(samples_.begin(), samples_.end()));
  }

  /// 0 before the first sample.
  double rate() const {
    return rate_;
  }

  /// Since the beginning.
  std::size_t samples() const {
    return added_;
  }

private:
  std::deque<double> samples_;
  std::size_t added_ = 0;
  std::size_t low_ = 0;
  double rate_ = 0;
};

} // namespace potluck
