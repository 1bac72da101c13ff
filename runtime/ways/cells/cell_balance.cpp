#include "runtime/ways/cells/cell_balance.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/random.hpp"

namespace potluck {

std::map<peer_id, contact>
better_sponsors(const std::vector<peer_id>& contributors,
                const std::vector<progress_report>& members,
                std::uint64_t seed) {
  const auto own = static_cast<double>(contributors.size());
  auto all = own;
  for (const auto& x : members)
    all += x.contributors;
  const auto mean = all / (1.0 + static_cast<double>(members.size()));
  if (own <= full_cell * mean + spare_contributors)
    return {};
  std::vector<double> room; ///< Of each member and of all before it.
  double sum = 0;
  for (const auto& x : members) {
    if (!x.where.host.empty() && x.where.port != 0 && x.contributors < mean)
      sum += mean - x.contributors;
    room.push_back(sum);
  }
  if (sum <= 0)
    return {};
  random_stream chance{seed};
  auto order = contributors;
  chance.shuffle(order);
  order.resize(static_cast<std::size_t>(std::ceil((own - mean) / 2)));
  std::map<peer_id, contact> result;
  for (const auto& id : order) {
    auto at
        = std::upper_bound(room.begin(), room.end(), sum * chance.uniform01());
    const auto& to = members[static_cast<std::size_t>(at - room.begin())];
    result[id] = {to.id, to.where};
  }
  return result;
}

} // namespace potluck
