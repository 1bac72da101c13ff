/// What each peer said last of itself, and when.
///
/// A report may come from its sender or be found in the DHT, where it is found
/// again and again while it lives. Pure bookkeeping for `peer_ledger`, which
/// bounds it.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class last_reports {
public:
  /// Records whose ages say that they were written within this time of each
  /// other are one: the age leaves out the way here. Half of the time between
  /// two publications at most.
  static constexpr duration same_record = std::chrono::seconds{1};

  /// Takes what a peer said then. @param record It was found in the DHT.
  /// @return False: it or a later one is known; nothing changed.
  bool take(const progress_report& said, time_point when, bool record) {
    const auto at = all_.find(said.id);
    if (at == all_.end()) {
      all_.emplace(said.id, entry{said, when});
      return true;
    }
    auto& x = at->second;
    if (x.when > when || (record && when - x.when < same_record))
      return false;
    x = {said, when};
    return true;
  }
  void forget(const peer_id& who) {
    all_.erase(who);
  }

  /// Null when it has said nothing. Good until it says more, or is forgotten.
  const progress_report* of(const peer_id& who) const {
    const auto at = all_.find(who);
    return at == all_.end() ? nullptr : &at->second.said;
  }
  /// Whether it has said something less than so long ago.
  bool heard_within(const peer_id& who, time_point now, duration time) const {
    const auto at = all_.find(who);
    return at != all_.end() && now - at->second.when < time;
  }
  /// Those said at most `max_age` ago, in the order of ids.
  /// @param counts Whether a peer's does.
  template <class Counts>
  std::vector<progress_report> recent(time_point now, duration max_age,
                                      Counts counts) const {
    std::vector<progress_report> result;
    for (const auto& [id, x] : all_)
      if (now - x.when <= max_age && counts(id))
        result.push_back(x.said);
    return result;
  }

private:
  struct entry {
    progress_report said;
    time_point when;
  };

  std::map<peer_id, entry> all_; ///< Most that are at a bootstrap say nothing.
};

} // namespace potluck
