#include "models/permutation.hpp"

#include <stdexcept>
#include <utility>

#include "runtime/random.hpp"

namespace potluck {

permutation::permutation(std::uint64_t n, std::uint64_t seed)
    : n_(n), seed_(seed) {
  if (n == 0 || n > std::uint64_t{1} << 62)
    throw std::invalid_argument("a permutation of no or too many numbers");
  while (std::uint64_t{1} << (2 * half_bits_) < n)
    ++half_bits_;
}

std::uint64_t permutation::once(std::uint64_t x) const {
  const std::uint64_t low_mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = x >> half_bits_;
  std::uint64_t right = x & low_mask;
  for (std::uint64_t round = 0; round < 4; ++round) {
    const auto noise = mix(mix(seed_, round), right) & low_mask;
    left = std::exchange(right, left ^ noise);
  }
  return left << half_bits_ | right;
}

std::uint64_t permutation::operator()(std::uint64_t x) const {
  // Ends: a permutation's cycle through x leads back to x, which is below n.
  do
    x = once(x);
  while (x >= n_);
  return x;
}

} // namespace potluck
