#include "runtime/planning/leaders_plan.hpp"

#include "runtime/planning/planner.hpp"

namespace potluck {

std::optional<share_plan> leaders_plan(const collaboration& input,
                                       const share_plan& own,
                                       const digest& wanted) {
  auto x = own;
  const auto n = own.chunks.size();
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) {
      if (from == to || own.chunks[from] == 0 || !input.peers[to].averages)
        continue;
      --x.chunks[from];
      ++x.chunks[to];
      if (plan_digest(x) == wanted) {
        for (auto i : {from, to})
          x.shares[i] = static_cast<double>(x.chunks[i]) / input.chunks;
        const auto seconds = exchange_seconds(input, x.shares);
        if (seconds > near_enough * exchange_seconds(input, own.shares))
          return std::nullopt;
        if (own.packings.empty()) // Else it goes by them, and they are equal.
          x.predicted_seconds = seconds;
        return x;
      }
      ++x.chunks[from];
      --x.chunks[to];
    }
  return std::nullopt;
}

} // namespace potluck
