#include "runtime/step/helpers.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/planning/planner.hpp"

namespace potluck {

std::vector<helpers::chosen>
helpers::choose(const std::vector<progress_report>& there, double median,
                time_point now, bool needed) {
  std::vector<chosen> result;
  std::vector<peer_id> untried;
  for (const auto& x : there) {
    const auto known = proven_.find(x.id);
    if (known == proven_.end())
      untried.push_back(x.id);
    else if (result.size() < limits::most_helpers)
      result.push_back({x.id, known->second});
  }
  const bool rests = now < no_trial_before_ && !(needed && result.empty());
  if (rests || untried.empty())
    return result;
  const auto many = std::min({untried.size(), limits::most_helpers_on_trial,
                              limits::most_helpers - result.size()});
  // By turns, or who comes first by id would keep all others out.
  std::sort(untried.begin(), untried.end());
  std::rotate(untried.begin(),
              std::upper_bound(untried.begin(), untried.end(), last_tried_),
              untried.end());
  const auto line = median > 0 ? median : share_planner::unmeasured_line;
  for (std::size_t i = 0; i < many; ++i)
    result.push_back({untried[i], line / static_cast<double>(many)});
  if (many > 0)
    last_tried_ = untried[many - 1];
  return result;
}

void helpers::heard(const round_over& x, const share_plan& plan,
                    time_point now) {
  const auto& members = x.contract.members;
  const auto held_up
      = std::chrono::duration<double>{x.seconds - plan.predicted_seconds};
  for (const auto& id : x.stalled)
    distrust(id, std::chrono::duration_cast<duration>(held_up), now);
  for (std::size_t i = 0; i < members.size() && x.committed; ++i) {
    const auto& m = members[i];
    const auto line
        = std::max(m.upload_bytes_per_second, m.download_bytes_per_second);
    if (m.role != role::auxiliary || i >= plan.chunks.size()
        || plan.chunks[i] == 0 || line <= 0
        || std::find(x.stalled.begin(), x.stalled.end(), m.who.id)
               != x.stalled.end())
      continue;
    if (proven_.size() >= limits::helpers_known)
      proven_.erase(proven_.begin());
    auto& known = proven_[m.who.id];
    known = std::max(known, std::min(limits::trial_growth * line, max_real));
  }
}

void helpers::distrust(const peer_id& who, duration held_up, time_point now) {
  proven_.erase(who);
  no_trial_before_
      = std::max(no_trial_before_,
                 now + limits::trial_rest * std::max(held_up, duration{0}));
}

} // namespace potluck
