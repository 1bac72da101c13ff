/// Which calls of each caller a host has seen, so that a frame that comes twice
/// is not an update that is applied twice.
///
/// Pure and bounded. A caller's numbers rise (`open_calls`), but may come a
/// little out of order; far below its highest, a number counts as seen.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "messages/ids.hpp"
#include "runtime/experts/open_calls.hpp"

namespace potluck {

class seen_calls {
public:
  /// False when it was seen before.
  bool first(const peer_id& caller, std::uint64_t number) {
    auto& x = callers_[caller];
    if (number <= x.floor || !x.recent.insert(number).second)
      return false;
    if (x.recent.size() > limits::expert_calls_open) {
      x.floor = *x.recent.begin();
      x.recent.erase(x.recent.begin());
    }
    return true;
  }

  /// It is not connected any more.
  void forget(const peer_id& caller) {
    callers_.erase(caller);
  }

private:
  struct record {
    std::uint64_t floor = 0;
    std::set<std::uint64_t> recent;
  };

  std::map<peer_id, record> callers_;
};

} // namespace potluck
