#include "runtime/matchmaking/aversions.hpp"

#include <utility>
#include <vector>

#include "runtime/random.hpp"

namespace potluck {

namespace {

std::set<peer_id> avoided_by_most(const peer_id& leader,
                                  const aversions& members) {
  std::map<peer_id, std::size_t> votes;
  for (auto& [by, whom] : members)
    for (auto& id : whom)
      if (id != by && id != leader && members.count(id) != 0)
        ++votes[id];
  std::set<peer_id> result;
  for (auto& [id, n] : votes)
    if (2 * n > members.size() - 1)
      result.insert(id);
  return result;
}

} // namespace

std::set<peer_id> left_out(const peer_id& leader, const aversions& members,
                           const group_id& group) {
  auto out = avoided_by_most(leader, members);
  // Each pair once, whoever of the two avoids the other.
  std::map<peer_id, std::set<peer_id>> apart;
  for (auto& [by, whom] : members)
    for (auto& id : whom)
      if (id != by && members.count(id) != 0 && out.count(by) == 0
          && out.count(id) == 0) {
        apart[by].insert(id);
        apart[id].insert(by);
      }
  auto leave = [&](peer_id id) {
    for (auto& other : apart[id])
      apart[other].erase(id);
    apart.erase(id);
    out.insert(id);
  };
  const auto with_leader = apart[leader];
  for (auto& id : with_leader)
    leave(id);
  std::vector<std::pair<peer_id, peer_id>> pairs;
  for (auto& [a, others] : apart)
    for (auto& b : others)
      if (a < b)
        pairs.emplace_back(a, b);
  std::uint64_t seed = 0;
  static_assert(sizeof(group.bytes) >= sizeof(seed));
  for (std::size_t i = 0; i < sizeof(seed); ++i)
    seed = seed << 8 | group.bytes[i];
  random_stream lot{seed};
  lot.shuffle(pairs);
  for (auto& [a, b] : pairs) {
    if (out.count(a) != 0 || out.count(b) != 0)
      continue;
    auto of_a = apart[a].size();
    leave(lot.below(of_a + apart[b].size()) < of_a ? a : b);
  }
  return out;
}

} // namespace potluck
