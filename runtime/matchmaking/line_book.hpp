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
    (relayed ? relayed_ : direct_).insert(who);
  }
  /// It is not connected, and may never have been. @param for_good It has said
  /// goodbye.
  void left(const peer_id& who, bool for_good) {
    if (direct_.erase(who) + relayed_.erase(who) > 0 && !for_good)
      heard_of(who);
    else if (for_good)
      forget(who);
  }
  /// It is in the run, whether connected or not.
  void heard_of(const peer_id& who) {
    if (direct_.count(who) + relayed_.count(who) != 0)
      return;
    forget(who);
    absent_.insert(absent_.begin(), who);
    if (absent_.size() > max_members)
      absent_.pop_back();
  }
  /// At most `max_members`: first those that are there through a hub, then
  /// those of whom news came last, whom a stranger may have made up.
  std::vector<peer_id> without() const {
    std::vector<peer_id> result{relayed_.begin(), relayed_.end()};
    result.insert(result.end(), absent_.begin(), absent_.end());
    if (result.size() > max_members)
      result.resize(max_members);
    return result;
  }

private:
  void forget(const peer_id& who) {
    direct_.erase(who);
    relayed_.erase(who);
    absent_.erase(std::remove(absent_.begin(), absent_.end(), who),
                  absent_.end());
  }

  std::set<peer_id> direct_;
  std::set<peer_id> relayed_;
  std::vector<peer_id> absent_; ///< At most `max_members`, the latest first.
};

} // namespace potluck
