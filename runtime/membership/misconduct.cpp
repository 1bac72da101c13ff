#include "runtime/membership/misconduct.hpp"

#include <algorithm>

namespace potluck {

std::optional<std::string> misconduct::note(const peer_id& who, witness by,
                                            const std::string& occasion,
                                            const std::string& evidence,
                                            time_point now) {
  if (known_.size() >= most_peers && known_.count(who) == 0)
    known_.erase(std::min_element(
        known_.begin(), known_.end(), [](const auto& a, const auto& b) {
          return a.second.back().at < b.second.back().at;
        }));
  auto& all = known_[who];
  while (!all.empty() && now - all.front().at > memory)
    all.pop_front();
  auto weight = by == witness::alone ? weight_alone : weight_majority;
  auto same = std::find_if(all.begin(), all.end(), [&](const offence& x) {
    return x.occasion == occasion;
  });
  if (same != all.end() && same->weight >= weight)
    return std::nullopt;
  if (same != all.end())
    all.erase(same);
  all.push_back({occasion, evidence.substr(0, longest_evidence), now, weight});
  unsigned sum = 0;
  for (auto& x : all)
    sum += x.weight;
  if (sum < weight_to_ban)
    return std::nullopt;
  std::string proof;
  for (auto& x : all)
    proof += (proof.empty() ? "" : "; ") + x.evidence + " (" + x.occasion + ")";
  known_.erase(who);
  return proof;
}

std::size_t misconduct::offences(const peer_id& who, time_point now) const {
  auto all = known_.find(who);
  if (all == known_.end())
    return 0;
  return static_cast<std::size_t>(
      std::count_if(all->second.begin(), all->second.end(),
                    [&](const offence& x) { return now - x.at <= memory; }));
}

} // namespace potluck
