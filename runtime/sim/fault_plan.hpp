/// When which fault befalls whom: a scenario's rules and churn, drawn from a
/// seed.
///
/// Pure. The owner asks for the next event, carries it out when its time has
/// come and says who is there, since targets are chosen among those.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runtime/sim/scenario.hpp"

namespace potluck {

/// One thing to do now.
struct fault_event {
  enum class what {
    join,  ///< Start this peer for the first time.
    back,  ///< Start it again after it was away.
    begin, ///< The fault begins (or happens).
    end,   ///< A fault that lasts ends.
  };
  duration at{0};
  what action = what::begin;
  fault_kind kind = fault_kind::kill;
  std::vector<std::size_t> peers; ///< By number.
  double amount = 0;
  std::string detail;
  bool keeps_disk = true; ///< (back)
  /// (end) Number of the event that began it.
  std::uint64_t of = 0;
  std::uint64_t number = 0; ///< Counts from 1; names the event in logs.
};

/// A peer as the scenario's groups and chance make it.
struct planned_peer {
  std::size_t number = 0;
  std::size_t group = 0; ///< Index into `scenario::groups`.
  double samples_per_second = 0;
  double clock_drift = 0;
  duration delay{0};
  double upload = 0;
  double download = 0;
  std::uint64_t seed = 0;
};

class fault_plan {
public:
  fault_plan(const scenario& what, std::uint64_t seed);

  /// Peers known so far, `join` faults included once they happened; numbers are
  /// indices and never reused.
  const std::vector<planned_peer>& peers() const {
    return peers_;
  }

  /// When the next event is due; nothing when there is none any more.
  std::optional<duration> next() const;

  /// The events due at `now`, in order. Targets are chosen among `present`.
  /// @param present Numbers of the peers that run, stopped ones included.
  std::vector<fault_event> due(duration now,
                               const std::set<std::size_t>& present);

  /// The last fault that can be foreseen has ended: from here on the run must
  /// recover. Churn counts as a fault; rules without an end never do.
  bool over(duration now) const;

  /// Faults begun so far, by kind.
  const std::map<fault_kind, std::uint64_t>& counts() const {
    return counts_;
  }
  /// One line a fault begun so far: "12.5 s: kill 3, 7". For logs and replays.
  std::vector<std::string> history() const;

private:
  std::vector<planned_peer> peers_;
  std::map<fault_kind, std::uint64_t> counts_;
  // The rest is the implementer's.
};

} // namespace potluck
