#include "runtime/planning/collaboration.hpp"

#include <algorithm>
#include <limits>

#include "runtime/averaging/chunk_map.hpp"

namespace potluck {

collaboration collaboration_of(const group_contract& contract) {
  collaboration result;
  for (const auto& x : contract.members) {
    planned_peer peer;
    peer.id = x.who.id;
    peer.computes = x.samples != 0;
    peer.holds_model = x.role == role::trainer;
    peer.listens = x.who.where.port != 0;
    peer.upload_bytes_per_second = x.upload_bytes_per_second;
    peer.download_bytes_per_second = x.download_bytes_per_second;
    result.peers.push_back(peer);
    result.target_batch
        += std::min(x.samples, std::numeric_limits<std::uint64_t>::max()
                                   - result.target_batch);
  }
  result.chunks = count_chunks(contract.gradient_values, contract.chunk_values);
  result.gradient_bytes = contract.gradient_values * sizeof(float);
  return result;
}

} // namespace potluck
