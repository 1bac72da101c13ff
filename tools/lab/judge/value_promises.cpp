#include "tools/lab/judge/value_promises.hpp"

#include <algorithm>
#include <cmath>

#include "tools/lab/sim/simulated_model.hpp"

namespace potluck {

namespace {

double length_of(const std::vector<float>& x) {
  double squares = 0;
  for (double value : x)
    squares += value * value;
  return std::sqrt(squares);
}

/// As a part of the longer one's length.
double apart(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] - b[i];
    squares += difference * difference;
  }
  const auto longest = std::max(length_of(a), length_of(b));
  return longest > 0 ? std::sqrt(squares) / longest : 0;
}

} // namespace

near_parameters::near_parameters(ledger& all, const terms& run)
    : promise(all, "peers of redrawn groups are no further apart than the "
                   "bound"),
      most_(run.most_drift) {
}

void near_parameters::seen_at(const teller& who, duration at,
                              std::uint64_t step, std::vector<float> values) {
  if (most_ <= 0)
    return;
  double furthest = 0;
  std::size_t from = who.peer;
  for (const auto& [other, theirs] : held_[step]) {
    if (other == who.peer || theirs.size() != values.size())
      continue;
    const auto part = apart(values, theirs);
    if (part > furthest)
      from = other;
    furthest = std::max(furthest, part);
  }
  drift_ = std::max(drift_, furthest);
  check(furthest <= most_, at, [&] {
    return who.called() + ", step " + std::to_string(step) + ": "
           + teller{from}.called() + "'s parameters are "
           + std::to_string(furthest * 100) + " % of their length apart, of "
           + std::to_string(most_ * 100) + " % at most";
  });
  held_[step][who.peer] = std::move(values);
  while (held_.size() > steps_compared)
    held_.erase(held_.begin());
}

void near_parameters::ended(const teller& who) {
  for (auto& [step, all] : held_)
    all.erase(who.peer);
}

counted_once::counted_once(ledger& all, const terms& run)
    : promise(all, "a mean counts each sample once"), rounded_(run.rounded) {
}

void counted_once::tally(const teller& who, duration at, float mean) {
  check(tally_is_right(mean, rounded_), at, [&] {
    return who.called() + " sent a mean that counts samples "
           + std::to_string(mean) + " times instead of once";
  });
}

} // namespace potluck
