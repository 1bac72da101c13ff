#include "runtime/experts/product_key.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/experts/expert_uid.hpp"

namespace potluck {

product_key::product_key(std::vector<std::uint32_t> grid)
    : grid_(std::move(grid)) {
  if (grid_.empty() || grid_.size() > limits::expert_dimensions)
    throw std::invalid_argument("A grid of experts has 1 to "
                                + std::to_string(limits::expert_dimensions)
                                + " dimensions.");
  for (auto size : grid_) {
    if (size == 0 || size > limits::expert_coordinates)
      throw std::invalid_argument("A dimension of a grid of experts has 1 to "
                                  + std::to_string(limits::expert_coordinates)
                                  + " coordinates.");
    offsets_.push_back(scores_);
    scores_ += size;
  }
}

std::uint64_t product_key::experts() const {
  std::uint64_t product = 1;
  for (auto size : grid_)
    product *= size;
  return product;
}

float product_key::score(const float* row,
                         const std::vector<std::uint32_t>& place) const {
  float sum = 0;
  for (std::size_t i = 0; i < place.size(); ++i)
    sum += row[offsets_[i] + place[i]];
  return sum;
}

} // namespace potluck
