/// How training goes, in the one line that `potluck join` keeps up to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "messages/progress.hpp"

namespace potluck {

/// A number that is not known is NaN, and its part of the line is left out.
struct live_status {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  std::uint64_t step = 0;
  std::uint64_t steps = 0; ///< Of the whole run; 0 when not known.
  double loss = unknown;
  double samples_per_second = unknown; ///< Of all peers together.
  double share = unknown; ///< Of the samples that are ours, 0 to 1.
  std::size_t peers = 1;  ///< This one included.
  potluck::phase phase = potluck::phase::joining;
  double seconds_to_step = unknown;
  std::string trouble; ///< Empty while there is none.
  std::string reach;   ///< How others get here, in a word; empty: not known.
};

/// At most `width` columns, plain ASCII, no line end: the step, and as much of
/// the rest as there is room for, the most important first.
std::string live_line(const live_status& status, std::size_t width);

} // namespace potluck
