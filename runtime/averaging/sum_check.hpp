/// Whether a mean is that of its parts, by one number of each part: its scalar
/// product with a direction that was drawn when nobody could change the mean
/// any more.
///
/// The plain mean is linear: for any direction r the members' <r, part> add up
/// to samples * <r, mean>, but for rounding. Pure functions and a value; the
/// same bits on every machine.
///
/// A direction's components are independent and uniform between -sqrt(3) and
/// sqrt(3): their variance is 1. So what rounding does, before r is drawn,
/// shows as a number of the size of its norm, with tails of a Gaussian at most
/// (Hoeffding 1963), and no shift that is planned can hide in r: the density of
/// <r, shift> is at most 0.41 / |shift| (Ball, "Cube slicing in R^n", 1986).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "messages/averaging.hpp"
#include "messages/limits.hpp"
#include "runtime/averaging/chunk_map.hpp"

namespace potluck::limits {

/// What one seed has a member read, of its parts and of the means each: 2 MB,
/// 3 ms. One chunk at least is drawn, however large.
constexpr std::size_t projected_values = 1u << 19;
/// Standard deviations that rounding is allowed. An honest mean fails with a
/// probability of 5e-11 at most, where every value is rounded as badly as it
/// can be.
constexpr double sum_slack = 7;

} // namespace potluck::limits

namespace potluck {

/// The chunks whose sums a seed checks, `max_projections` at most, ascending.
std::vector<std::uint32_t> chunks_drawn(std::uint64_t seed,
                                        const chunk_map& map);

/// Values along the direction that a seed means for a chunk: the scalar
/// product, and the values' norm. In blocks of doubles, so that its own
/// rounding is far below that of a float.
projection project(std::uint64_t seed, std::uint32_t chunk, const float* values,
                   std::size_t count);

/// Two members speak of one part.
bool same_part(const projection& a, const projection& b);

/// The mean of one chunk along one direction, to be held against the parts.
class sum_check {
public:
  /// @param samples Of each member; zero for those without a part in the mean.
  /// @param part_norm As in `averaging_rule`: no part in the mean is longer.
  /// @param mean `count` values, as they were unpacked. @param how It was
  /// packed.
  sum_check(std::uint64_t seed, std::uint32_t chunk,
            std::vector<std::uint64_t> samples, double part_norm,
            const float* mean, std::size_t count, packing how);

  /// Whether the member's part is in the mean.
  bool has(std::size_t member) const {
    return samples_.at(member) != 0;
  }

  /// By how much the parts' sum may be off, of the sum over all samples. A
  /// shift x times as long goes unnoticed with a probability of 1.7 / x.
  double tolerance(const std::vector<projection>& parts) const;

  /// Whether the parts add up to the mean, and each is one that may be in it:
  /// not longer than the rule allows, than its own projection lets believe, or
  /// than the mean and the others together (for a norm is a member's word, and
  /// a long one would excuse everything).
  /// @param parts Of each member.
  bool fits(const std::vector<projection>& parts) const;

private:
  std::vector<std::uint64_t> samples_;
  double part_norm_;
  double sum_ = 0;     ///< All samples times the mean's projection.
  double norm_ = 0;    ///< The same of its norm.
  double packing_ = 0; ///< The same of what packing may have done to it.
  std::size_t parts_ = 0;
};

} // namespace potluck
