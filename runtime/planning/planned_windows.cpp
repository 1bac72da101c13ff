#include "runtime/planning/planned_windows.hpp"

#include <algorithm>

namespace potluck {

namespace {

double queue_of(double bytes_per_second) {
  return std::min(bytes_per_second * planned_queue_seconds,
                  largest_planned_queue);
}

} // namespace

std::vector<planned_window> planned_windows(const collaboration& input,
                                            const std::vector<double>& shares,
                                            std::size_t self) {
  auto lines = believed_lines(input);
  auto n = input.peers.size();
  auto between = [&](std::size_t from, std::size_t to) {
    return from == to ? 0 : gradients_between(input, shares, from, to);
  };
  double out = 0;
  for (std::size_t j = 0; j < n; ++j)
    out += between(self, j);
  std::vector<planned_window> result(n);
  for (std::size_t j = 0; j < n; ++j) {
    auto passes = between(self, j);
    if (!(passes > 0))
      continue;
    double in = 0;
    for (std::size_t i = 0; i < n; ++i)
      in += between(i, j);
    const auto down = passes / in * lines[j].download;
    result[j].queue
        = std::max(passes / in * queue_of(lines[j].download),
                   std::min(down * planned_queue_seconds,
                            passes / out * queue_of(lines[self].upload)));
    result[j].rate = std::min(down, passes / out * lines[self].upload);
  }
  return result;
}

std::vector<std::pair<peer_id, planned_window>>
planned_windows(const group_contract& contract, const share_plan& plan,
                std::size_t self) {
  std::vector<std::pair<peer_id, planned_window>> result;
  if (plan.shares.size() != contract.members.size())
    return result;
  const auto all
      = planned_windows(collaboration_of(contract), plan.shares, self);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].queue > 0)
      result.emplace_back(contract.members[i].who.id, all[i]);
  return result;
}

} // namespace potluck
