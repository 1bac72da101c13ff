#include "runtime/planning/share_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace potluck {

digest plan_digest(const share_plan& plan) {
  std::vector<std::uint8_t> bytes;
  for (auto x : plan.chunks)
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<std::uint8_t>(x >> shift));
  for (auto x : plan.packings)
    bytes.push_back(static_cast<std::uint8_t>(x));
  return digest_of(bytes.data(), bytes.size());
}

std::vector<std::uint32_t> whole_chunks(const std::vector<double>& weights,
                                        std::uint32_t chunks) {
  if (weights.empty())
    throw std::invalid_argument{"Chunks need somebody who averages them."};
  // Whole millionths of the largest weight, so that the last bits of a solver's
  // result move no chunk.
  constexpr std::uint64_t grain = 1000000;
  double largest = 0;
  for (auto x : weights)
    if (std::isfinite(x))
      largest = std::max(largest, x);
  std::vector<std::uint64_t> grains(weights.size(), 1);
  if (largest > 0)
    for (std::size_t i = 0; i < weights.size(); ++i)
      grains[i] = std::isfinite(weights[i]) && weights[i] > 0
                      ? static_cast<std::uint64_t>(
                          std::llround(weights[i] / largest * grain))
                      : 0;
  std::uint64_t total
      = std::accumulate(grains.begin(), grains.end(), std::uint64_t{0});
  // At most 2^32 chunks times 10^6 grains: the products fit.
  std::vector<std::uint32_t> result;
  std::uint64_t given = 0;
  for (auto x : grains) {
    result.push_back(static_cast<std::uint32_t>(x * chunks / total));
    given += result.back();
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return grains[a] * chunks % total > grains[b] * chunks % total;
      });
  for (std::size_t i = 0; given < chunks; ++i, ++given)
    ++result[order[i]];
  return result;
}

} // namespace potluck
