/// Who has made a run's last step, and whether those who are left may make it
/// too.
///
/// Who was cut off while the others finished and left finds nobody to get their
/// last state from. Made alone, the step would be a second end of the run: of
/// two, the one that more hold counts. Pure; no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "messages/progress.hpp"

namespace potluck {

class finishers {
public:
  /// What somebody reports, connected or in a record: its newest counts.
  /// @param last_step Of the run.
  void heard(const progress_report& r, std::uint64_t last_step) {
    if (r.role != role::trainer || r.phase != phase::finished
        || r.step < last_step)
      known_.erase(r.id);
    else if (known_.size() < most_known)
      known_.insert(r.id);
  }

  /// @param left Trainers here that have not made the last step; above zero.
  bool outnumber(std::size_t left) const {
    return known_.size() >= left;
  }

private:
  /// More than any group: whoever is outnumbered by so many need not count.
  static constexpr std::size_t most_known = 4096;

  std::set<peer_id> known_;
};

} // namespace potluck
