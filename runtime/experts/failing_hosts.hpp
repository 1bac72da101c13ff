/// Whom to leave alone for a while: hosts of experts, or experts.
///
/// Pure. Who did not answer, was lost or sent nonsense is not asked for a
/// second, and twice as long after each further failure in a row; an answer
/// clears it. Being busy is no failure.
#pragma once

#include <algorithm>
#include <map>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Who failed is not asked for so long, doubled each time up to the cap.
constexpr auto expert_failure_pause = 1s;
constexpr auto expert_failure_cap = 120s;
/// Failing hosts remembered.
constexpr std::size_t expert_failing_hosts = 4096;

} // namespace potluck::limits

namespace potluck {

template <class Name>
class failing {
public:
  /// @param most Remembered.
  /// @param enough Failures in a row until one is left alone.
  explicit failing(std::size_t most = limits::expert_failing_hosts,
                   unsigned enough = 1)
      : most_(most), enough_(enough) {
  }

  void answered(const Name& who) {
    known_.erase(who);
  }

  void failed(const Name& who, time_point now) {
    if (known_.size() >= most_ && known_.count(who) == 0)
      known_.erase(known_.begin());
    auto& x = known_[who];
    // Several calls that fail together are one failure.
    if (now < x.until || ++x.in_a_row < enough_)
      return;
    duration pause{limits::expert_failure_pause};
    for (auto n = enough_; n < x.in_a_row && pause < limits::expert_failure_cap;
         ++n)
      pause *= 2;
    x.until = now + std::min<duration>(pause, limits::expert_failure_cap);
  }

  bool usable(const Name& who, time_point now) const {
    auto i = known_.find(who);
    return i == known_.end() || now >= i->second.until;
  }

  /// Nobody has failed since it answered.
  bool empty() const {
    return known_.empty();
  }

  /// Failures in a row; 0 for one of which nothing bad is known.
  unsigned failures(const Name& who) const {
    auto i = known_.find(who);
    return i == known_.end() ? 0 : i->second.in_a_row;
  }

private:
  struct record {
    unsigned in_a_row = 0;
    time_point until = time_point::min();
  };

  std::size_t most_;
  unsigned enough_;
  std::map<Name, record> known_;
};

using failing_hosts = failing<peer_id>;

} // namespace potluck
