#include "runtime/averaging/round/giving_way.hpp"

#include "runtime/direct_lines.hpp"

namespace potluck {

bool gives_way(const averaging_round& round, const peer_id& other) {
  const auto& members = round.members();
  const auto self = members.self();
  const auto i = members.index_of(other);
  if (i == members.size() || round.agreement().frozen() || !members.own().trains
      || !direct_lines{round.what().contract}.between(self, i)
      || (members[i].trains && i > self))
    return false;
  const auto& map = round.bulk().map();
  return map.chunks_of(self).count != 0 || map.chunks_of(i).count != 0;
}

} // namespace potluck
