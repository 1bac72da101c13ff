#include "runtime/planning/chunk_size.hpp"

#include <algorithm>
#include <cmath>

#include "messages/limits.hpp"
#include "runtime/planning/planner.hpp"

namespace potluck {

namespace {

/// Lengths that are tried are also multiples of this part of the whole.
constexpr std::uint32_t chunk_lengths = 64;

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

std::uint32_t packed_chunk_values(std::uint32_t most, packing how) {
  const auto whole = packed_bytes(packing::float32, packing_block);
  // A block's scale is no reason to have fewer.
  const auto times = (whole + packing_block) / packed_bytes(how, packing_block);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{most} * times, max_chunk_values));
}

std::uint32_t chunk_values_for(const group_contract& contract,
                               std::uint32_t most, packing how) {
  auto bytes = [how](std::uint64_t values) {
    return static_cast<double>(packed_bytes(how, values));
  };
  const auto members
      = std::max<std::uint64_t>(contract.members.size(), 1) * chunks_a_member;
  const auto share = bytes(contract.gradient_values / members);
  const auto least = std::max(
      {share, least_chunk_bytes, slowest_line(contract) * least_chunk_seconds});
  auto result = packed_chunk_values(most, how);
  while (result % (2 * packing_block) == 0 && bytes(result / 2) >= least)
    result /= 2;
  return result;
}

std::uint32_t fitting_chunk_values(const group_contract& contract,
                                   std::uint32_t whole, packing how,
                                   const plan_rules& rules) {
  const auto blocks = how == packing::int8;
  const auto unit
      = std::max(blocks ? std::uint32_t{packing_block} : least_chunk_step,
                 whole / chunk_lengths);
  if (contract.members.empty() || contract.gradient_values == 0
      || whole % unit != 0)
    return whole;
  auto cut = contract;
  auto only_shares = rules;
  only_shares.packs_thin_lines = false;
  auto seconds = [&](std::uint32_t values) {
    cut.chunk_values = values;
    auto bytes = static_cast<double>(packed_bytes(how, values));
    return plan(collaboration_of(cut, only_shares)).predicted_seconds
           * (1 + chunk_head_bytes / bytes);
  };
  cut.chunk_values = whole;
  if (!collaboration_of(cut, only_shares).limits.empty())
    return whole;
  auto result = whole;
  auto least = seconds(whole);
  for (auto values = whole - unit; values >= whole / 4 * 3; values -= unit)
    if (auto x = seconds(values); x < least) {
      least = x;
      result = values;
    }
  return result;
}

std::uint32_t least_chunk_values(std::uint32_t most) {
  return chunk_values_for({}, most);
}

} // namespace potluck
