/// What this process holds of memory, as Linux counts it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace potluck::bench {

/// A row of /proc/self/status in bytes: "VmHWM", "VmRSS".
inline std::uint64_t memory_row(const std::string& row) {
  std::ifstream in{"/proc/self/status"};
  for (std::string line; std::getline(in, line);)
    if (line.rfind(row + ":", 0) == 0)
      return std::stoull(line.substr(row.size() + 1)) * 1024;
  return 0;
}

/// What the process has had of its own at most; without the libraries' pages,
/// which all processes share.
inline std::uint64_t peak_memory() {
  auto shared = memory_row("RssFile") + memory_row("RssShmem");
  auto most = memory_row("VmHWM");
  return most - std::min(most, shared);
}

} // namespace potluck::bench
