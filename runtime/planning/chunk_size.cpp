#include "runtime/planning/chunk_size.hpp"

#include <algorithm>
#include <cmath>

#include "messages/packing.hpp"

namespace potluck {

namespace {

/// Bytes per second; 0 when no line is known.
double slowest_line(const group_contract& contract) {
  double slowest = 0;
  for (auto& x : contract.members)
    for (auto rate : {x.upload_bytes_per_second, x.download_bytes_per_second})
      if (rate > 0 && std::isfinite(rate))
        slowest = slowest == 0 ? rate : std::min(slowest, rate);
  return slowest;
}

} // namespace

std::uint32_t chunk_values_for(const group_contract& contract,
                               std::uint32_t most) {
  const auto members
      = std::max<std::uint64_t>(contract.members.size(), 1) * chunks_a_member;
  const auto share
      = static_cast<double>(contract.gradient_values / members * sizeof(float));
  const auto least = std::max(
      {share, least_chunk_bytes, slowest_line(contract) * least_chunk_seconds});
  auto result = most;
  while (result % (2 * packing_block) == 0
         && static_cast<double>(result / 2 * sizeof(float)) >= least)
    result /= 2;
  return result;
}

std::uint32_t least_chunk_values(std::uint32_t most) {
  return chunk_values_for({}, most);
}

} // namespace potluck
