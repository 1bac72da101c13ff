/// The peers that work with this one, or did lately: limits on strangers are
/// not for them. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <set>

#include "messages/ids.hpp"

namespace potluck {

class partners {
public:
  /// Remembered: who came first goes first.
  static constexpr std::size_t most = 4096;

  /// Whether it is a new one.
  bool add(const peer_id& who) {
    if (!all_.insert(who).second)
      return false;
    order_.push_back(who);
    if (order_.size() > most) {
      all_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }
  bool has(const peer_id& who) const {
    return all_.count(who) != 0;
  }

private:
  std::set<peer_id> all_;
  std::deque<peer_id> order_;
};

} // namespace potluck
