/// Which reducers have said lately, when their sums were disputed, that a
/// member told something else than its part.
///
/// One such word is believed, for one liar must not take a hub away from
/// everybody; the second one, of another member, is not. Pure.
#pragma once

#include <iterator>
#include <map>
#include <utility>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

/// As long as offences count.
constexpr duration denial_memory = std::chrono::minutes{10};

} // namespace potluck::limits

namespace potluck {

class denials {
public:
  /// @param member Whose word the reducer denies; empty: it has not answered.
  /// @returns Whether it has lately denied another's, or not answered before.
  bool again(const peer_id& reducer, const peer_id& member, time_point now) {
    bool before = false;
    for (auto i = known_.begin(); i != known_.end();)
      if (now - i->second > limits::denial_memory) {
        i = known_.erase(i);
      } else {
        before = before
                 || (i->first.first == reducer
                     && (member.empty() || i->first.second != member));
        ++i;
      }
    known_[{reducer, member}] = now;
    return before;
  }

private:
  std::map<std::pair<peer_id, peer_id>, time_point> known_;
};

} // namespace potluck
