/// A grid of experts as product keys: the score of an expert is the sum of its
/// coordinates' scores (Lample et al. 2019; Ryabinin and Gusev 2020, section
/// 3.2), so a layer needs one score for each coordinate, not for each expert.
///
/// A sample's scores stand in one row: those of the first dimension's
/// coordinates, then those of the second's, and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace potluck {

class product_key {
public:
  /// @param grid Coordinates of each dimension. Throws std::invalid_argument
  /// with a sentence unless there are 1 to 4, of 1 to 256 each.
  explicit product_key(std::vector<std::uint32_t> grid);

  std::size_t dimensions() const {
    return grid_.size();
  }
  std::uint32_t size(std::size_t dimension) const {
    return grid_[dimension];
  }
  /// Where a dimension's scores begin in a sample's row.
  std::size_t offset(std::size_t dimension) const {
    return offsets_[dimension];
  }
  /// Scores in a sample's row: the coordinates of all dimensions.
  std::size_t scores() const {
    return scores_;
  }
  /// Places on the grid.
  std::uint64_t experts() const;

  /// Of a place or of a prefix of one; `row` holds `scores()` values. Added
  /// from the first dimension on, so equal places have equal bits.
  float score(const float* row, const std::vector<std::uint32_t>& place) const;

private:
  std::vector<std::uint32_t> grid_;
  std::vector<std::size_t> offsets_;
  std::size_t scores_ = 0;
};

} // namespace potluck
