#include "runtime/ways/cells/mean_chain.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// How much later each of them has it than the one before: a piece's time on a
/// thin uplink, and the way. What a shorter chain saves is held against what
/// one chain more costs their sponsor.
constexpr auto chain_hop = 100ms;

int power_of_two(double upload) {
  return upload > 0 ? std::ilogb(upload) : 0;
}

} // namespace

std::size_t chains_for(std::size_t contributors, double seconds) {
  const std::chrono::duration<double> hop = chain_hop;
  auto last_has_it_after = [&](std::size_t chains) {
    auto longest = (contributors + chains - 1) / chains;
    return static_cast<double>(chains) * seconds
           + static_cast<double>(longest) * hop.count();
  };
  auto least = (contributors + limits::chain_length - 1) / limits::chain_length;
  auto best = std::max<std::size_t>(least, 1);
  for (auto x = best + 1; x <= contributors; ++x)
    if (last_has_it_after(x) < last_has_it_after(best))
      best = x;
  return best;
}

std::map<peer_id, chain_place>
mean_chains(const std::vector<progress_report>& contributors,
            std::uint64_t mean_bytes, double upload) {
  const std::chrono::duration<double> worth = limits::chained_mean;
  if (upload <= 0
      || 2 * static_cast<double>(mean_bytes) < worth.count() * upload)
    return {};
  std::vector<const progress_report*> order;
  for (const auto& x : contributors)
    if (!x.where.host.empty() && x.where.port != 0)
      order.push_back(&x);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    auto of_a = power_of_two(a->upload_bytes_per_second);
    auto of_b = power_of_two(b->upload_bytes_per_second);
    return std::tie(of_b, a->id) < std::tie(of_a, b->id);
  });
  const auto chains
      = chains_for(order.size(), static_cast<double>(mean_bytes) / upload);
  std::map<peer_id, chain_place> result;
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto& place = result[order[i]->id];
    if (i >= chains)
      place.nearer = {order[i - chains]->id, order[i - chains]->where};
    if (i + chains < order.size())
      place.farther = order[i + chains]->id;
  }
  return result;
}

} // namespace potluck
