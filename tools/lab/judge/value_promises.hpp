/// What is promised about values that the simulation can look at.
#pragma once

#include <map>
#include <vector>

#include "tools/lab/judge/promise.hpp"

namespace potluck {

/// Peers of redrawn groups are no further apart at one step than the bound
/// (`most_moshpit_drift`), as a part of the longer one's parameters.
class near_parameters : public promise {
public:
  near_parameters(ledger& all, const terms& run);

  /// An honest peer holds these parameters after `step`.
  void seen_at(const teller& who, duration at, std::uint64_t step,
               std::vector<float> values);
  void ended(const teller& who) override;
  void history_gone() override {
    held_.clear();
  }

  /// The furthest that two peers were apart.
  double drift() const {
    return drift_;
  }
  double most() const {
    return most_;
  }

private:
  /// Steps whose parameters are kept: a peer that is further behind is compared
  /// when it has caught up.
  static constexpr std::uint64_t steps_compared = 8;

  double most_;
  double drift_ = 0;
  std::map<std::uint64_t, std::map<std::size_t, std::vector<float>>> held_;
};

/// A mean counts each sample once, as the model's tallies show.
class counted_once : public promise {
public:
  counted_once(ledger& all, const terms& run);

  /// An honest member sent this mean of a chunk's tally.
  void tally(const teller& who, duration at, float mean);

private:
  bool rounded_;
};

} // namespace potluck
