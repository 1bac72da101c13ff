#include "runtime/averaging/sum_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "runtime/packing/packing.hpp"
#include "runtime/random.hpp"

namespace potluck {

namespace {

/// Tells the draw of chunks from the directions.
constexpr std::uint64_t which_chunks = ~std::uint64_t{0};
/// 16 bits make one component: an odd whole number from -65535 to 65535, times
/// this.
const double unit = std::sqrt(3.0) / 65536;
constexpr std::size_t a_word = 4; ///< Components of 64 bits.

/// Of a block; the product in units.
struct block_sums {
  double product = 0;
  double squares = 0;
};

double component(std::uint64_t word, std::size_t i) {
  return 2.0 * static_cast<double>(word >> (16 * i) & 0xffff) - 65535.0;
}

/// Words come from splitmix64 (Steele, Lea and Flood 2014).
block_sums sums_of_block(std::uint64_t seed, std::uint64_t first_word,
                         const float* values, std::size_t count) {
  double products[a_word] = {};
  double squares[a_word] = {};
  std::size_t at = 0;
  for (; at + a_word <= count; at += a_word) {
    const auto word = mix(seed, first_word + at / a_word);
    for (std::size_t i = 0; i < a_word; ++i) {
      const double x = values[at + i];
      products[i] += x * component(word, i);
      squares[i] += x * x;
    }
  }
  const auto word = mix(seed, first_word + at / a_word);
  for (std::size_t i = 0; at + i < count; ++i) {
    const double x = values[at + i];
    products[i] += x * component(word, i);
    squares[i] += x * x;
  }
  return {(products[0] + products[1]) + (products[2] + products[3]),
          (squares[0] + squares[1]) + (squares[2] + squares[3])};
}

/// The root of the sum of the squares of what packing may have done to each
/// value, by the values that were unpacked.
double packing_slack(packing how, const float* mean, std::size_t count) {
  if (how == packing::float32)
    return 0;
  constexpr double before = 1.01; // A value was so much larger at most.
  double sum = 0;
  for (std::size_t first = 0; first < count; first += packing_block) {
    const auto end = std::min(first + packing_block, count);
    double largest = 0;
    for (auto i = first; i < end; ++i)
      largest = std::max(largest, std::abs(double{mean[i]}));
    for (auto i = first; i < end; ++i) {
      const auto off = packing_error(how, before * std::abs(double{mean[i]}),
                                     before * largest);
      sum += off * off;
    }
  }
  return std::sqrt(sum);
}

} // namespace

std::vector<std::uint32_t> chunks_drawn(std::uint64_t seed,
                                        const chunk_map& map) {
  const auto chunks = map.chunk_count();
  const auto length = map.range(0).count;
  const auto most = std::min<std::size_t>(
      {max_projections, chunks,
       std::max<std::size_t>(1, limits::projected_values / length)});
  random_stream lot{mix(seed, which_chunks)};
  std::set<std::uint32_t> drawn;
  while (drawn.size() < most)
    drawn.insert(static_cast<std::uint32_t>(lot.below(chunks)));
  return {drawn.begin(), drawn.end()};
}

projection project(std::uint64_t seed, std::uint32_t chunk, const float* values,
                   std::size_t count) {
  const auto direction = mix(seed, chunk);
  double product = 0;
  double squares = 0;
  for (std::size_t first = 0; first < count; first += packing_block) {
    const auto block = sums_of_block(direction, first / a_word, values + first,
                                     std::min(packing_block, count - first));
    product += block.product;
    squares += block.squares;
  }
  return {product * unit, static_cast<float>(std::sqrt(squares))};
}

bool same_part(const projection& a, const projection& b) {
  const double norm = std::max(a.norm, b.norm);
  return std::abs(a.value - b.value) <= 1e-9 * norm
         && std::abs(double{a.norm} - b.norm) <= 1e-6 * norm;
}

sum_check::sum_check(std::uint64_t seed, std::uint32_t chunk,
                     std::vector<std::uint64_t> samples, double part_norm,
                     const float* mean, std::size_t count, packing how)
    : samples_{std::move(samples)}, part_norm_{part_norm} {
  double total = 0;
  for (auto x : samples_) {
    total += static_cast<double>(x);
    parts_ += x != 0;
  }
  const auto along = project(seed, chunk, mean, count);
  sum_ = total * along.value;
  norm_ = total * along.norm;
  packing_ = total
             * (packing_slack(how, mean, count)
                + std::sqrt(static_cast<double>(count))
                      * std::numeric_limits<float>::min());
}

double sum_check::tolerance(const std::vector<projection>& parts) const {
  // Parts are added as floats: each of n additions, the division and the mean's
  // own rounding err by half a unit of the parts' magnitudes so far at most.
  double magnitude = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (has(i))
      magnitude += parts.at(i).norm;
  return limits::sum_slack
         * (static_cast<double>(parts_ + 2)
                * std::numeric_limits<float>::epsilon() * magnitude
            + packing_);
}

bool sum_check::fits(const std::vector<projection>& parts) const {
  constexpr double longest = 8; // Standard deviations of one projection.
  constexpr double rounded = 1 + 1e-6;
  const auto off = tolerance(parts);
  double sum = 0;
  double norms = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (has(i)) {
      sum += parts.at(i).value;
      norms += parts[i].norm;
    }
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (!has(i))
      continue;
    const double norm = parts[i].norm;
    if (std::abs(parts[i].value) > longest * norm
        || norm > (norms - norm + norm_) * rounded + off
        || (part_norm_ > 0
            && norm > part_norm_ * static_cast<double>(samples_[i]) * rounded))
      return false;
  }
  return std::abs(sum - sum_) <= off;
}

} // namespace potluck
