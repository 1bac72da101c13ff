/// With which peers this one has a line of its own, and with which it has none
/// but through a hub, or none at all.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "messages/ids.hpp"
#include "messages/limits.hpp"

namespace potluck {

class line_book {
public:
  /// Connected. @param relayed Through a hub.
  void joined(const peer_id& who, bool relayed) {
    forget(who);
    if (relayed)
      heard_of(who);
    else
      with_.insert(who);
  }
  /// @param for_good It has said goodbye.
  void left(const peer_id& who, bool for_good) {
    forget(who);
    if (!for_good)
      heard_of(who);
  }
  /// It is in the run, whether connected or not.
  void heard_of(const peer_id& who) {
    if (with_.count(who) != 0)
      return;
    forget(who);
    without_.insert(without_.begin(), who);
    if (without_.size() > max_members)
      without_.pop_back();
  }
  /// At most `max_members`, of whom news came last first.
  const std::vector<peer_id>& without() const {
    return without_;
  }

private:
  void forget(const peer_id& who) {
    with_.erase(who);
    without_.erase(std::remove(without_.begin(), without_.end(), who),
                   without_.end());
  }

  std::set<peer_id> with_;
  std::vector<peer_id> without_;
};

} // namespace potluck
