/// Which faults have begun, for logs and replays: how many of each kind, and a
/// line for each.
///
/// Every fault is counted; lines are kept of the first ones only, so that a run
/// of any length has a bounded history.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/scenario/fault_event.hpp"

namespace potluck::limits {

/// Lines that are kept; the rest is counted.
constexpr std::size_t fault_history = 10'000;

} // namespace potluck::limits

namespace potluck {

class fault_history {
public:
  /// A fault begins. @param lasts How long, when it ends by itself.
  void note(const fault_event& x, const std::optional<duration>& lasts);

  /// Faults so far, by kind.
  const std::map<fault_kind, std::uint64_t>& counts() const {
    return counts_;
  }
  /// One line a fault: "12.5 s: kill 3, 7", "40 s: slow 2 (8) for 30 s". The
  /// first `limits::fault_history`, then a line that counts the others.
  std::vector<std::string> lines() const;

private:
  std::map<fault_kind, std::uint64_t> counts_;
  std::vector<std::string> lines_;
  std::uint64_t untold_ = 0; ///< Those that have no line.
};

} // namespace potluck
