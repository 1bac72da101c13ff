#include "runtime/planning/collaboration.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

#include "runtime/averaging/chunk_map.hpp"
#include "runtime/direct_lines.hpp"

namespace potluck {

std::string to_string(share_rule x) {
  switch (x) {
    case share_rule::planned:
      return "planned";
    case share_rule::all_reduce:
      return "all-reduce";
    case share_rule::parameter_server:
      return "parameter-server";
  }
  throw std::logic_error{"a share rule has no name"};
}

std::optional<share_rule> share_rule_named(const std::string& name) {
  for (auto x : {share_rule::planned, share_rule::all_reduce,
                 share_rule::parameter_server})
    if (to_string(x) == name)
      return x;
  return std::nullopt;
}

namespace {

/// What a pair carries at least while all send to a receiver at once, as a part
/// of its equal part of the receiver's line.
constexpr double least_part = 0.5;

/// Whether others who send to the same member are reason enough for a pair to
/// carry no more: then it is not slow, the member's line is what it is.
bool explained_by_downlink(const group_contract& contract, std::size_t member,
                           double bytes_per_second) {
  const auto& x = contract.members[member];
  auto line = std::max(x.download_bytes_per_second, x.upload_bytes_per_second);
  auto senders = static_cast<double>(contract.members.size() - 1);
  return line > 0 && bytes_per_second >= least_part * line / senders;
}

} // namespace

collaboration collaboration_of(const group_contract& contract,
                               const plan_rules& rules) {
  collaboration result;
  result.rule = rules.shares;
  result.packs_thin_lines = rules.packs_thin_lines;
  result.overlaps = rules.overlaps;
  result.computing_seconds = contract.computing_ms / 1e3;
  const direct_lines lines{contract};
  for (std::size_t i = 0; i < contract.members.size(); ++i) {
    const auto& x = contract.members[i];
    planned_peer peer;
    peer.id = x.who.id;
    peer.computes = x.samples != 0;
    peer.holds_model = x.role == role::trainer;
    peer.averages = lines.serves_all(i);
    peer.upload_bytes_per_second = x.upload_bytes_per_second;
    peer.download_bytes_per_second = x.download_bytes_per_second;
    result.peers.push_back(peer);
    result.target_batch
        += std::min(x.samples, std::numeric_limits<std::uint64_t>::max()
                                   - result.target_batch);
  }
  for (std::size_t i = 0; i < contract.members.size(); ++i) {
    std::set<std::size_t> limited;
    for (const auto& x : contract.members[i].slow_pairs) {
      auto to = static_cast<std::size_t>(
          std::find_if(contract.members.begin(), contract.members.end(),
                       [&](const group_member& m) { return m.who.id == x.to; })
          - contract.members.begin());
      if (to == contract.members.size() || to == i
          || !limited.insert(to).second)
        continue;
      if (explained_by_downlink(contract, to, x.bytes_per_second))
        continue;
      result.limits.push_back({i, to, x.bytes_per_second});
    }
  }
  result.chunks = count_chunks(contract.gradient_values, contract.chunk_values);
  result.gradient_bytes = contract.gradient_values * sizeof(float);
  return result;
}

} // namespace potluck
