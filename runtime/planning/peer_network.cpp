#include "runtime/planning/peer_network.hpp"

namespace potluck {

peer_network::peer_network(const strategy_problem& problem) {
  std::map<std::string, std::size_t> number;
  for (const auto& x : problem.peers) {
    number.emplace(x.id, peers_.size());
    peers_.push_back({x.id, x.samples_per_second / problem.target_batch,
                      x.upload / problem.gradient_bytes,
                      x.download / problem.gradient_bytes, x.computes,
                      x.holds_model, x.listens});
    holders_ += x.holds_model;
  }
  for (const auto& x : problem.links)
    links_[{number.at(x.from), number.at(x.to)}]
        = x.limit / problem.gradient_bytes;
}

double peer_network::link(std::size_t i, std::size_t j) const {
  if (links_.empty())
    return unlimited;
  auto found = links_.find({i, j});
  return found == links_.end() ? unlimited : found->second;
}

double peer_network::compute_rate(const peer_flags& computing) const {
  double result = 0;
  for (std::size_t i = 0; i < size(); ++i)
    if (computing[i])
      result += compute(i);
  return result;
}

std::vector<std::size_t> peer_network::islands() const {
  // Only named links of zero separate peers. Whom a peer reaches is found by
  // walking over those not yet reached: few are ever looked at twice.
  std::map<std::size_t, std::vector<bool>> blocked_from;
  std::map<std::size_t, std::vector<bool>> blocked_to;
  for (const auto& [ends, limit] : links_) {
    if (limit > 0)
      continue;
    auto& from = blocked_from[ends.first];
    auto& to = blocked_to[ends.second];
    from.resize(size());
    to.resize(size());
    from[ends.second] = true;
    to[ends.first] = true;
  }
  auto reached = [&](std::size_t start,
                     const std::map<std::size_t, std::vector<bool>>& blocked) {
    std::vector<bool> result(size(), false);
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < size(); ++i)
      if (i != start)
        left.push_back(i);
    std::vector<std::size_t> next{start};
    result[start] = true;
    while (!next.empty() && !left.empty()) {
      auto here = next.back();
      next.pop_back();
      auto walls = blocked.find(here);
      std::vector<std::size_t> still;
      for (auto i : left) {
        if (walls != blocked.end() && walls->second[i]) {
          still.push_back(i);
        } else {
          result[i] = true;
          next.push_back(i);
        }
      }
      left = std::move(still);
    }
    return result;
  };
  constexpr auto none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> result(size(), none);
  std::size_t islands = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (result[i] != none)
      continue;
    auto there = reached(i, blocked_from);
    auto back = reached(i, blocked_to);
    for (std::size_t j = i; j < size(); ++j)
      if (there[j] && back[j])
        result[j] = islands;
    ++islands;
  }
  return result;
}

} // namespace potluck
