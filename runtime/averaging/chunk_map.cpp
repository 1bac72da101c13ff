#include "runtime/averaging/chunk_map.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace potluck {

std::uint32_t contribution_values(std::uint32_t chunk_values) {
  return std::max(chunk_values, limits::least_contribution_part);
}

std::uint32_t count_chunks(std::uint64_t gradient_values,
                           std::uint32_t chunk_values) {
  if (gradient_values == 0 || chunk_values == 0)
    throw std::invalid_argument{"A gradient and its chunks need values."};
  std::uint64_t result = (gradient_values - 1) / chunk_values + 1;
  if (result > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument{"The gradient has too many chunks; raise "
                                "chunk-values."};
  return static_cast<std::uint32_t>(result);
}

chunk_map::chunk_map(std::uint64_t gradient_values, std::uint32_t chunk_values,
                     const std::vector<std::uint32_t>& chunks_per_member)
    : gradient_values_{gradient_values}, chunk_values_{chunk_values} {
  std::uint64_t total = 0;
  starts_.reserve(chunks_per_member.size() + 1);
  starts_.push_back(0);
  for (auto chunks : chunks_per_member) {
    total += chunks;
    starts_.push_back(static_cast<std::uint32_t>(total));
  }
  if (total != count_chunks(gradient_values, chunk_values))
    throw std::invalid_argument{"The members' chunks do not cover the gradient "
                                "exactly once."};
}

value_range chunk_map::range(std::uint32_t chunk) const {
  if (chunk >= chunk_count())
    throw std::out_of_range{"There is no such chunk."};
  std::uint64_t offset = std::uint64_t{chunk} * chunk_values_;
  return {offset,
          std::min<std::uint64_t>(chunk_values_, gradient_values_ - offset)};
}

std::size_t chunk_map::owner(std::uint32_t chunk) const {
  if (chunk >= chunk_count())
    throw std::out_of_range{"There is no such chunk."};
  // The last member that starts at or before the chunk; members without chunks
  // start where the next one does and therefore lose.
  auto after = std::upper_bound(starts_.begin(), starts_.end(), chunk);
  return static_cast<std::size_t>(after - starts_.begin()) - 1;
}

chunk_range chunk_map::chunks_of(std::size_t member) const {
  if (member >= member_count())
    throw std::out_of_range{"There is no such member."};
  return {starts_[member], starts_[member + 1] - starts_[member]};
}

} // namespace potluck
