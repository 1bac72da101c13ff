/// Gradients against slopes of the loss, for tests of models.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/models/fixture.hpp"

namespace potluck::test {

/// Checks that each tensor's gradient over these samples is what a small change
/// of each value does to the loss.
/// @param noise Of one slope, in single precision.
/// @param matters Whether the loss depends on the tensor of this name.
inline void
check_slopes(small_run& run, std::uint32_t samples, double noise,
             const std::function<bool(const std::string&)>& matters) {
  const auto& layout = run.model->layout();
  // Large weights, so that every part of the network matters to the loss.
  auto parameters = draw_parameters(layout, 3, 20, 0.1);
  std::vector<float> gradient(layout.values());
  const std::uint64_t seed = 11;
  std::atomic<bool> cancelled{false};
  run.model->accumulate({seed, 0, samples, 1}, parameters.data(),
                        gradient.data(), cancelled);

  auto loss_with = [&](std::size_t i, float value) {
    const auto before = std::exchange(parameters[i], value);
    const auto found = run.model->evaluate(parameters.data(), seed, samples);
    parameters[i] = before;
    return found.loss * samples;
  };
  for (const auto& entry : layout.entries()) {
    double difference = 0, scale = 0;
    for (auto i = entry.offset; i < entry.offset + entry.values; ++i) {
      const float high = parameters[i] + 4e-3f;
      const float low = parameters[i] - 4e-3f;
      const double slope = (loss_with(i, high) - loss_with(i, low))
                           / (static_cast<double>(high) - low);
      difference += std::pow(slope - gradient[i], 2);
      scale += std::pow(slope, 2);
    }
    INFO(entry.name << " differs by " << std::sqrt(difference) << " of "
                    << std::sqrt(scale));
    CHECK(std::sqrt(difference)
          < 2e-3 * std::sqrt(scale)
                + noise * std::sqrt(static_cast<double>(entry.values)));
    if (matters(entry.name))
      CHECK(scale > 1e-4);
  }
}

} // namespace potluck::test
