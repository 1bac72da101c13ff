#include "runtime/averaging/robust_mean.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/median.hpp"

namespace potluck {

namespace {

/// Calls `reduce` with each coordinate's values in ascending order.
template <class Reduce>
std::vector<float> by_coordinate(const std::vector<const float*>& means,
                                 std::size_t length, Reduce reduce) {
  if (means.empty())
    throw std::logic_error{"A robust mean of nobody was asked for."};
  std::vector<float> result(length);
  std::vector<float> column(means.size());
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t k = 0; k < means.size(); ++k)
      column[k] = means[k][i] + 0.0f; // Turns -0 into 0: equal means same bits.
    std::sort(column.begin(), column.end());
    result[i] = reduce(column);
  }
  return result;
}

double distance(const float* x, const std::vector<double>& v) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    auto d = static_cast<double>(x[i]) - v[i];
    sum += d * d;
  }
  return std::sqrt(sum);
}

} // namespace

std::optional<aggregator> aggregator_from(const std::string& name) {
  if (name == "mean")
    return aggregator::mean;
  if (name == "centered-clip")
    return aggregator::centered_clip;
  if (name == "trimmed-mean")
    return aggregator::trimmed_mean;
  if (name == "median")
    return aggregator::median;
  return std::nullopt;
}

double norm_of(const float* values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return std::sqrt(sum);
}

std::vector<float> coordinate_median(const std::vector<const float*>& means,
                                     std::size_t length) {
  return by_coordinate(means, length, [](const std::vector<float>& sorted) {
    auto n = sorted.size();
    if (n % 2 == 1)
      return sorted[n / 2];
    return 0.5f * sorted[n / 2 - 1] + 0.5f * sorted[n / 2];
  });
}

std::vector<float> trimmed_mean(const std::vector<const float*>& means,
                                std::size_t length, double trim) {
  auto n = means.size();
  auto away = std::min(static_cast<std::size_t>(trim * static_cast<double>(n)),
                       n == 0 ? 0 : (n - 1) / 2);
  return by_coordinate(means, length, [&](const std::vector<float>& sorted) {
    double sum = 0;
    for (std::size_t i = away; i < n - away; ++i)
      sum += static_cast<double>(sorted[i]);
    return static_cast<float>(sum / static_cast<double>(n - 2 * away));
  });
}

std::vector<float> centered_clip(const std::vector<const float*>& means,
                                 std::size_t length, double radius) {
  auto start = coordinate_median(means, length);
  std::vector<double> center(start.begin(), start.end());
  std::vector<double> distances(means.size());
  std::vector<double> step(length);
  for (int iteration = 0; iteration < clip_iterations; ++iteration) {
    for (std::size_t k = 0; k < means.size(); ++k)
      distances[k] = distance(means[k], center);
    if (radius == 0 && iteration == 0)
      radius = lower_median(distances);
    std::fill(step.begin(), step.end(), 0.0);
    for (std::size_t k = 0; k < means.size(); ++k) {
      auto weight = distances[k] > radius ? radius / distances[k] : 1.0;
      for (std::size_t i = 0; i < length; ++i)
        step[i] += weight * (static_cast<double>(means[k][i]) - center[i]);
    }
    for (std::size_t i = 0; i < length; ++i)
      center[i] += step[i] / static_cast<double>(means.size());
  }
  std::vector<float> result(length);
  for (std::size_t i = 0; i < length; ++i)
    result[i] = static_cast<float>(center[i]);
  return result;
}

std::vector<float> robust_mean(const averaging_rule& rule,
                               const std::vector<const float*>& means,
                               std::size_t length) {
  switch (rule.how) {
    case aggregator::centered_clip:
      return centered_clip(means, length, rule.clip_radius);
    case aggregator::trimmed_mean:
      return trimmed_mean(means, length, rule.trim);
    case aggregator::median:
      return coordinate_median(means, length);
    case aggregator::mean:
      break;
  }
  throw std::logic_error{"The plain mean is no robust one."};
}

std::vector<std::size_t> norm_outliers(const std::vector<double>& norms,
                                       double factor) {
  std::vector<std::size_t> result;
  if (norms.size() < 3)
    return result;
  auto bound = factor * lower_median(norms);
  for (std::size_t i = 0; i < norms.size(); ++i)
    if (bound > 0 && norms[i] > bound)
      result.push_back(i);
  return result;
}

} // namespace potluck
