/// Aggregations of one chunk that a minority of hostile members cannot steer.
///
/// Pure functions. All of them look at the members' *means* (sum / samples), so
/// that nobody weighs more by claiming more samples: every member counts once.
/// The order of operations is fixed by the members' order, and nothing of
/// libm but the square root is used, so whoever computes gets the same bits.
///
/// With n members and L values a median or a trimmed mean takes O(L n log n),
/// centered clipping O(L n (log n + iterations)), and n L floats of memory.
///
/// Sources: coordinate-wise median and trimmed mean: Yin et al. 2018
/// (arXiv 1803.01498); centered clipping: Karimireddy, He, Jaggi 2021
/// (arXiv 2012.10333); its use among peers without a server: Gorbunov,
/// Borzunov, Diskin, Ryabinin 2021 (arXiv 2106.11257).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace potluck {

enum class aggregator {
  mean,          ///< Weighted by samples; one member can move it anywhere.
  centered_clip, ///< Steps of bounded length from the median.
  trimmed_mean,  ///< Without the largest and smallest of each coordinate.
  median,        ///< Of each coordinate.
};

/// "mean", "centered-clip", "trimmed-mean" or "median"; none for other text.
std::optional<aggregator> aggregator_from(const std::string& name);

/// How a chunk's parts become one vector.
struct averaging_rule {
  aggregator how = aggregator::mean;
  /// Trimmed mean: the share left away at either end, below 0.5. The default
  /// withstands 7 hostile members of 16.
  double trim = 0.4375;
  /// Centered clipping: the longest step towards one member; 0 takes the median
  /// of the members' distances.
  double clip_radius = 0;
  /// A part whose mean is longer is refused; 0 for no bound.
  double part_norm = 0;
};

/// Steps of centered clipping. It starts at the median, which is within the
/// honest members' spread already; more change little.
constexpr int clip_iterations = 5;

/// The Euclidean norm, summed in order in double precision.
double norm_of(const float* values, std::size_t count);

/// The mean of the two middle ones when their number is even.
/// @param means At least one, each with `length` finite values.
std::vector<float> coordinate_median(const std::vector<const float*>& means,
                                     std::size_t length);

/// Leaves floor(trim * n) away at either end, and keeps at least one or two.
std::vector<float> trimmed_mean(const std::vector<const float*>& means,
                                std::size_t length, double trim);

/// v <- v + (1/n) sum_i (x_i - v) min(1, radius / |x_i - v|), from the median.
std::vector<float> centered_clip(const std::vector<const float*>& means,
                                 std::size_t length, double radius);

/// As `rule.how` says. Throws std::logic_error for `mean`, which needs no
/// members' means, and when there are none.
std::vector<float> robust_mean(const averaging_rule& rule,
                               const std::vector<const float*>& means,
                               std::size_t length);

/// Indices of the norms that exceed `factor` times the median one (of an even
/// number the lower), ascending. None when that is zero or there are fewer than
/// three: then nothing says who is wrong.
std::vector<std::size_t> norm_outliers(const std::vector<double>& norms,
                                       double factor);

} // namespace potluck
