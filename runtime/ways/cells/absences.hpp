/// Trainers that this peer could not dial, and which of them are there all the
/// same, so that they are out of its reach.
///
/// A last report may go round for a while after its sender has gone; so it
/// takes two vain dials, and news long after the first. Pure bookkeeping.
#pragma once

#include <chrono>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class absences {
public:
  /// A trainer that is heard of so long after it could not be dialled is there;
  /// until then its last report may be going round. If it cannot be dialled
  /// then either, it is out of our reach.
  static constexpr std::chrono::seconds estranged_after{45};
  /// Trainers remembered; beyond, no other is.
  static constexpr std::size_t most = 4096;

  /// @param silent_after One that was not heard of for so long was not there.
  explicit absences(duration silent_after) : silent_after_(silent_after) {
  }

  /// It is not connected, and could not be dialled.
  void missed(const peer_id& who, time_point now) {
    const auto known = all_.find(who);
    if (known == all_.end()) {
      if (all_.size() < most)
        all_.emplace(who, absence{now, {}, false});
    } else if (auto& x = known->second;
               !x.heard || now - *x.heard > silent_after_) {
      x = {now, {}, false}; // It was not there, and may have been away before.
    } else if (*x.heard - x.since >= estranged_after) {
      x.estranged = true;
    }
  }
  /// Somebody, or it itself, says something of it.
  void heard(const peer_id& who, time_point now) {
    if (const auto away = all_.find(who); away != all_.end())
      away->second.heard = now;
  }
  /// It is connected.
  void met(const peer_id& who) {
    all_.erase(who);
  }

  /// Whether it is there, and out of our reach.
  bool estranged(const peer_id& who) const {
    const auto at = all_.find(who);
    return at != all_.end() && at->second.estranged;
  }

  /// Forgets those that have been silent for so long that they are gone.
  /// @param anew Those that are out of reach, too: they are tried again.
  void forget_silent(time_point now, bool anew) {
    for (auto x = all_.begin(); x != all_.end();) {
      const auto& [since, heard, estranged] = x->second;
      const auto silent = now - heard.value_or(since);
      const bool gone = silent > silent_after_ + estranged_after;
      x = (estranged && anew) || gone ? all_.erase(x) : std::next(x);
    }
  }

private:
  struct absence {
    time_point since;                ///< Could not be dialled.
    std::optional<time_point> heard; ///< Last, since then.
    bool estranged = false;          ///< And could not be dialled then.
  };

  duration silent_after_;
  std::map<peer_id, absence> all_; ///< Not connected since.
};

} // namespace potluck
