/// Which hosts of experts to leave alone for a while.
///
/// Pure. A host that did not answer, was lost or sent nonsense is not asked for
/// a second, and twice as long after each further failure in a row; an answer
/// clears it. Being busy is no failure.
#pragma once

#include <algorithm>
#include <map>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A host that failed is not asked for so long, doubled each time up to the
/// cap.
constexpr auto expert_failure_pause = 1s;
constexpr auto expert_failure_cap = 120s;
/// Failing hosts remembered.
constexpr std::size_t expert_failing_hosts = 4096;

} // namespace potluck::limits

namespace potluck {

class failing_hosts {
public:
  void answered(const peer_id& host) {
    known_.erase(host);
  }

  void failed(const peer_id& host, time_point now) {
    auto i = known_.find(host);
    if (i == known_.end()) {
      if (known_.size() >= limits::expert_failing_hosts)
        known_.erase(known_.begin());
      i = known_.emplace(host, record{}).first;
    }
    auto& x = i->second;
    // Several calls that fail together are one failure.
    if (x.in_a_row > 0 && now < x.until)
      return;
    duration pause{limits::expert_failure_pause};
    for (unsigned n = 0; n < x.in_a_row && pause < limits::expert_failure_cap;
         ++n)
      pause *= 2;
    ++x.in_a_row;
    x.until = now + std::min<duration>(pause, limits::expert_failure_cap);
  }

  bool usable(const peer_id& host, time_point now) const {
    auto i = known_.find(host);
    return i == known_.end() || now >= i->second.until;
  }

  /// Failures in a row; 0 for a host of which nothing bad is known.
  unsigned failures(const peer_id& host) const {
    auto i = known_.find(host);
    return i == known_.end() ? 0 : i->second.in_a_row;
  }

private:
  struct record {
    unsigned in_a_row = 0;
    time_point until;
  };

  std::map<peer_id, record> known_;
};

} // namespace potluck
