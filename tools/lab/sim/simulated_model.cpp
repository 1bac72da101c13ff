#include "tools/lab/sim/simulated_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/random.hpp"

namespace potluck {

namespace {

/// Means are sums of whole numbers times a rounded reciprocal.
constexpr float tally_tolerance = 1e-4f;
/// Twice half a step of int8: of the parts, and of their mean.
constexpr float rounded_tolerance = 1e-2f;

float wanted(std::size_t i) {
  return static_cast<float>(i % 7) * 0.25f - 0.5f;
}

} // namespace

simulated_model::simulated_model(std::size_t values, std::uint32_t chunk_values,
                                 bool weightless)
    : chunk_values_{chunk_values}, weightless_{weightless} {
  if (values == 0 || chunk_values == 0)
    throw std::invalid_argument{"A model has values, and so has a chunk."};
  auto half = static_cast<std::int64_t>(values / 2);
  if (half > 0)
    layout_.add("first", {half}, true, 0, 0.5f);
  layout_.add("second", {static_cast<std::int64_t>(values) - half}, false, 0,
              0.5f);
}

batch_result simulated_model::accumulate(const batch_request& request,
                                         const float* parameters,
                                         float* gradient,
                                         const std::atomic<bool>& cancelled) {
  batch_result result;
  const auto values = layout_.values();
  const auto stretches = std::max<std::size_t>(1, values / stretch);
  for (std::uint32_t n = 0; n < request.samples && !cancelled; ++n) {
    ++result.samples;
    if (weightless_)
      continue;
    auto number = request.first_sample + std::uint64_t{n} * request.stride;
    random_stream chance{mix(request.order_seed, number)};
    auto first = chance.below(stretches) * stretch;
    auto last = std::min<std::size_t>(first + stretch, values);
    for (auto i = first; i < last; ++i) {
      if (i % chunk_values_ == 0)
        continue;
      auto noise = static_cast<float>(chance.uniform01()) * 0.2f - 0.1f;
      auto error = parameters[i] - wanted(i) + noise;
      gradient[i] += error;
      result.loss_sum += 0.5 * static_cast<double>(error) * error;
    }
  }
  for (std::size_t i = 0; i < values; i += chunk_values_)
    gradient[i] += static_cast<float>(result.samples);
  return result;
}

evaluation simulated_model::evaluate(const float* parameters,
                                     std::uint64_t order_seed,
                                     std::uint64_t samples) {
  std::vector<float> unused(layout_.values(), 0.0f);
  std::atomic<bool> never{false};
  batch_request request;
  request.order_seed = order_seed;
  request.samples = static_cast<std::uint32_t>(samples);
  auto all = accumulate(request, parameters, unused.data(), never);
  return {samples, all.loss_sum / static_cast<double>(samples), 0};
}

bool tally_is_right(float mean_of_tally, bool rounded) {
  return std::abs(mean_of_tally - 1.0f)
         < (rounded ? rounded_tolerance : tally_tolerance);
}

} // namespace potluck
