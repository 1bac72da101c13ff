#include "runtime/state/vouchers.hpp"

namespace potluck {

void vouchers::claim(const peer_id& peer, std::uint64_t step,
                     const digest& state) {
  if (state.empty())
    return;
  claims_[step][peer] = state;
  if (claims_.size() > most_steps)
    claims_.erase(claims_.begin());
}

void vouchers::forget(const peer_id& peer) {
  for (auto step = claims_.begin(); step != claims_.end();) {
    step->second.erase(peer);
    step = step->second.empty() ? claims_.erase(step) : std::next(step);
  }
}

std::optional<digest> vouchers::believed(std::uint64_t step) const {
  auto at = claims_.find(step);
  if (at == claims_.end())
    return std::nullopt;
  std::map<digest, std::size_t> votes;
  for (auto& [peer, state] : at->second)
    if (2 * ++votes[state] > at->second.size())
      return state;
  return std::nullopt;
}

} // namespace potluck
