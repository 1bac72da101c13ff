#include "runtime/ways/cells/cell_tally.hpp"

#include <algorithm>

#include "messages/limits.hpp"

namespace potluck {

double samples_since(std::uint64_t samples, double samples_per_second,
                     duration age) {
  if (samples == 0 || age <= duration::zero())
    return 0;
  return std::chrono::duration<double>(age).count() * samples_per_second;
}

std::vector<cell_tally::row>::iterator
cell_tally::place_of(const peer_id& who) {
  return std::lower_bound(
      rows_.begin(), rows_.end(), who,
      [](const row& a, const peer_id& id) { return a.id < id; });
}

void cell_tally::heard(const progress_report& x, time_point now) {
  auto i = place_of(x.id);
  if (!is_at(i, x.id))
    i = rows_.insert(i, row{});
  *i = {x.id,
        x.state,
        x.step,
        x.samples,
        x.samples_per_second,
        x.phase == phase::accumulating,
        now};
}

void cell_tally::forget(const peer_id& who) {
  if (auto i = place_of(who); is_at(i, who))
    rows_.erase(i);
}

void cell_tally::gave(const peer_id& who) {
  if (auto i = place_of(who); is_at(i, who))
    i->samples = 0;
}

cell_tally::sum cell_tally::at(std::uint64_t step, const digest& state,
                               time_point now, duration longest_guess) const {
  sum result;
  result.contributors = rows_.size();
  double samples = 0;
  for (const auto& x : rows_) {
    if (x.step != step || x.state != state)
      continue;
    result.samples_per_second += x.samples_per_second;
    samples += static_cast<double>(x.samples);
    if (x.goes_on)
      samples += samples_since(x.samples, x.samples_per_second,
                               std::min(now - x.at, longest_guess));
  }
  // Each claim is bounded; their sum is, too.
  result.samples_per_second = std::min(result.samples_per_second, max_real);
  result.samples = samples < static_cast<double>(max_samples)
                       ? static_cast<std::uint64_t>(samples)
                       : max_samples;
  return result;
}

} // namespace potluck
