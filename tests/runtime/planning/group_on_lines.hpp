/// A group of which only the lines are known, for tests of what follows from
/// them.
#pragma once

#include "runtime/planning/planner.hpp"

namespace potluck {

/// Peers 1, 2, ..., all of whom compute and hold the model.
inline collaboration group_on_lines(const std::vector<line_speeds>& lines,
                                    std::uint64_t gradient_bytes,
                                    std::uint32_t chunks) {
  collaboration result;
  result.gradient_bytes = gradient_bytes;
  result.chunks = chunks;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    planned_peer x;
    x.id.bytes[0] = static_cast<std::uint8_t>(i + 1);
    x.upload_bytes_per_second = lines[i].upload;
    x.download_bytes_per_second = lines[i].download;
    result.peers.push_back(x);
  }
  return result;
}

} // namespace potluck
