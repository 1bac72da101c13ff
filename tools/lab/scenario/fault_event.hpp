/// What a fault plan has somebody do: start peers, begin a fault, end one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/clock.hpp"
#include "tools/lab/scenario/fault_kind.hpp"

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

} // namespace potluck
